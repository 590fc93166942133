import { z } from 'zod';
import type { RecognitionProvider, SynthesisProvider } from './providerNames.ts';

/*
 * What only one vendor knows, by the names of its API. An option that is not here is refused when an agent is saved: a
 * vendor would ignore it, or refuse each call.
 */

/** The default threshold. Without one the vendor sends no eager ends. */
const EAGER_EOT_THRESHOLD = 0.5;
/** The silence that ends a segment. */
const ENDPOINTING_MS = 300;
/** Time without a word that ends an utterance; the least that the vendor takes. */
const UTTERANCE_END_MS = 1000;

/** @see https://developers.deepgram.com/reference/speech-to-text/listen-flux */
export const FLUX_OPTIONS = z.strictObject({
  eager_eot_threshold: z.number().min(0.3).max(0.9).default(EAGER_EOT_THRESHOLD),
  eot_threshold: z.number().min(0.5).max(1).optional(),
  eot_timeout_ms: z.int().min(500).max(60_000).optional(),
  numerals: z.boolean().optional(),
  profanity_filter: z.boolean().optional(),
  redact: z.enum(['numbers', 'aggressive_numbers']).optional(),
  tag: z.union([z.string(), z.array(z.string())]).optional(),
  mip_opt_out: z.boolean().optional(),
});

/** @see https://developers.deepgram.com/reference/speech-to-text/listen-streaming */
export const NOVA_OPTIONS = z.strictObject({
  endpointing: z.int().min(10).max(5000).default(ENDPOINTING_MS),
  utterance_end_ms: z.int().min(1000).max(5000).default(UTTERANCE_END_MS),
  punctuate: z.boolean().default(true),
  smart_format: z.boolean().optional(),
  numerals: z.boolean().optional(),
  profanity_filter: z.boolean().optional(),
  mip_opt_out: z.boolean().optional(),
});

/** @see https://www.assemblyai.com/docs/streaming/message-sequence */
export const ASSEMBLYAI_OPTIONS = z.strictObject({
  end_of_turn_confidence_threshold: z.number().min(0).max(1).optional(),
  min_turn_silence: z.int().min(0).max(10_000).optional(),
  max_turn_silence: z.int().min(0).max(10_000).optional(),
  vad_threshold: z.number().min(0).max(1).optional(),
  turn_left_pad_ms: z.int().min(0).max(10_000).optional(),
  interruption_delay: z.int().min(0).max(10_000).optional(),
  continuous_partials: z.boolean().optional(),
  format_turns: z.boolean().optional(),
  filter_profanity: z.boolean().optional(),
  prompt: z.string().min(1).max(6000).optional(),
  agent_context: z.string().min(1).max(6000).optional(),
  domain: z.literal('medical-v1').optional(),
  mode: z.enum(['max_accuracy', 'balanced', 'min_latency']).optional(),
  language_codes: z.array(z.string()).optional(),
  language_detection: z.boolean().optional(),
  voice_focus: z.enum(['near-field', 'far-field']).optional(),
  voice_focus_threshold: z.number().min(0).max(1).optional(),
  redact_pii: z.boolean().optional(),
  redact_pii_policies: z.array(z.string()).optional(),
  redact_pii_sub: z.enum(['hash', 'entity_name']).optional(),
});

/** @see https://soniox.com/docs/api-reference/stt/websocket-api */
export const SONIOX_OPTIONS = z.strictObject({
  max_endpoint_delay_ms: z.int().min(500).max(3000).optional(),
  endpoint_sensitivity: z.number().min(-1).max(1).optional(),
  endpoint_latency_adjustment_level: z.int().min(0).max(3).optional(),
  language_hints: z.array(z.string()).optional(),
  language_hints_strict: z.boolean().optional(),
  client_reference_id: z.string().max(256).optional(),
});

const noiseReduction = z.enum(['near_field', 'far_field']).optional();
/**
 * Options of the models that transcribe while the person speaks. @see
 * https://platform.openai.com/docs/guides/realtime-transcription
 */
export const OPENAI_LIVE_OPTIONS = z.strictObject({
  batch: z.literal(false).optional(),
  delay: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
  noise_reduction: noiseReduction,
});
/** Options of the models that transcribe after the turn. */
export const OPENAI_TURN_OPTIONS = z.strictObject({
  batch: z.literal(false).optional(),
  turn_detection: z.enum(['semantic_vad', 'server_vad']).default('semantic_vad'),
  eagerness: z.enum(['low', 'medium', 'high', 'auto']).optional(),
  silence_duration_ms: z.int().min(100).max(5000).optional(),
  noise_reduction: noiseReduction,
});
const OPENAI_BATCH_OPTIONS = z.strictObject({ batch: z.literal(true) });

/** @see https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input */
export const ELEVENLABS_OPTIONS = z.strictObject({
  stability: z.number().min(0).max(1).optional(),
  similarity_boost: z.number().min(0).max(1).optional(),
  style: z.number().min(0).max(1).optional(),
  use_speaker_boost: z.boolean().optional(),
  apply_text_normalization: z.enum(['auto', 'on', 'off']).optional(),
  enable_logging: z.boolean().optional(),
});

/** @see https://docs.cartesia.ai/api-reference/tts/websocket */
export const CARTESIA_OPTIONS = z.strictObject({
  volume: z.number().min(0.5).max(2).optional(),
  emotion: z.string().min(1).max(50).optional(),
});

/** @see https://developers.deepgram.com/docs/streaming-text-to-speech */
export const AURA_OPTIONS = z.strictObject({ mip_opt_out: z.boolean().optional() });

/** Options of the `gpt` models. @see https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const OPENAI_SPEECH_OPTIONS = z.strictObject({ instructions: z.string().min(1).max(2000).optional() });

/** A server of one's own has its own. */
const ANY_OPTIONS = z.record(z.string(), z.unknown());
const NO_OPTIONS = z.strictObject({});

/** Models of OpenAI that take words and languages to expect in fields of their own. */
export function takesKeywords(model: string): boolean {
  return /^gpt-(live-)?transcribe/.test(model);
}

/** Realtime transcription models that have no turn detection. */
export function isLiveModel(model: string | undefined): boolean {
  return model === undefined || /^gpt-(realtime-whisper|live-transcribe)/.test(model);
}

/** Flux models detect turns, and have a protocol of their own. */
export function isFluxModel(model: string | undefined): boolean {
  return model === undefined || model.startsWith('flux');
}

type Options = Readonly<Record<string, unknown>>;

/** The options of a provider's model. */
export function recognitionOptions(
  provider: RecognitionProvider,
  model: string | undefined,
  { batch }: Options = {},
): z.ZodType {
  switch (provider) {
    case 'openai':
      if (batch === true) return OPENAI_BATCH_OPTIONS;
      return isLiveModel(model) ? OPENAI_LIVE_OPTIONS : OPENAI_TURN_OPTIONS;
    case 'deepgram':
      return isFluxModel(model) ? FLUX_OPTIONS : NOVA_OPTIONS;
    case 'assemblyai':
      return ASSEMBLYAI_OPTIONS;
    case 'soniox':
      return SONIOX_OPTIONS;
    case 'custom':
      return ANY_OPTIONS;
    case 'local':
      return NO_OPTIONS;
  }
}

export function synthesisOptions(provider: SynthesisProvider): z.ZodType {
  switch (provider) {
    case 'openai':
      return OPENAI_SPEECH_OPTIONS;
    case 'elevenlabs':
      return ELEVENLABS_OPTIONS;
    case 'cartesia':
      return CARTESIA_OPTIONS;
    case 'deepgram':
      return AURA_OPTIONS;
    case 'custom':
      return ANY_OPTIONS;
    case 'local':
      return NO_OPTIONS;
  }
}
