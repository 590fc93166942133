import { z } from 'zod';
import { OPENAI_TRANSCRIPTION_MODEL } from '../../models/ports/speechModels.ts';
import type { RecognitionModel, Vendor } from '../../models/ports/vendor.ts';

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

/** Options of the `gpt` models. @see https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const OPENAI_SPEECH_OPTIONS = z.strictObject({ instructions: z.string().min(1).max(2000).optional() });

/** Models that take words and languages to expect in fields of their own. */
export function takesKeywords(model: string): boolean {
  return /^gpt-(live-)?transcribe/.test(model);
}

/** Realtime transcription models that have no turn detection. */
export function isLiveModel(model: string | undefined): boolean {
  return model === undefined || /^gpt-(realtime-whisper|live-transcribe)/.test(model);
}

function options({ model, options }: RecognitionModel) {
  if (options?.batch === true) return OPENAI_BATCH_OPTIONS;
  return isLiveModel(model) ? OPENAI_LIVE_OPTIONS : OPENAI_TURN_OPTIONS;
}

export const openai = {
  recognition: {
    options,
    takesKeyterms: ({ model, options }) =>
      options?.batch === true || !isLiveModel(model) || takesKeywords(model ?? ''),
    tellsLanguages: ({ model, options }) =>
      (model ?? (options?.batch ? OPENAI_TRANSCRIPTION_MODEL : '')).startsWith('gpt-transcribe'),
  },
  synthesis: { options: OPENAI_SPEECH_OPTIONS },
} satisfies Vendor;
