import { z } from 'zod';
import { hasLanguage, languageCodes, type Vendor } from '../../models/ports/vendor.ts';

export const BASE_URL = 'https://streaming.assemblyai.com';
export const ENGLISH_MODEL = 'universal-streaming-english';
const MULTILINGUAL_MODEL = 'universal-streaming-multilingual';
/** Hears more languages than the others, and takes hints of them. */
const PRO_MODEL = 'universal-3-6-pro';

const ENGLISH = languageCodes('en');
/** @see https://www.assemblyai.com/docs/streaming/select-the-speech-model */
const MULTILINGUAL = languageCodes('de en es fr it pt');
const PRO = languageCodes('ar da de en es fi fr he hi it ja nl no pt sv tr ur vi zh');
const LANGUAGES: readonly (readonly [RegExp, ReadonlySet<string>])[] = [
  [/^universal-streaming-english/, ENGLISH],
  [/^universal-streaming-multilingual|^u3-/, MULTILINGUAL],
  [/^universal-3-/, PRO],
];

/** @see https://www.assemblyai.com/docs/streaming/message-sequence */
export const OPTIONS = z.strictObject({
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

/** The model for these languages; the multilingual one where they are not known. */
export function assemblyAiModel(tags: readonly string[]): string {
  if (tags.length > 0 && tags.every((tag) => hasLanguage(ENGLISH, tag))) return ENGLISH_MODEL;
  return tags.every((tag) => hasLanguage(MULTILINGUAL, tag)) ? MULTILINGUAL_MODEL : PRO_MODEL;
}

export const assemblyai = {
  service: { name: 'AssemblyAI', baseUrl: BASE_URL },
  recognition: {
    models: [ENGLISH_MODEL, MULTILINGUAL_MODEL, PRO_MODEL],
    options: () => OPTIONS,
    languages: (model, tags) =>
      LANGUAGES.find(([pattern]) => pattern.test(model ?? assemblyAiModel(tags)))?.[1],
  },
} satisfies Vendor;
