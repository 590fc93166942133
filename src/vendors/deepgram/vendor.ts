import { z } from 'zod';
import { hasLanguage, languageCodes, type Vendor } from '../../models/ports/vendor.ts';

export const BASE_URL = 'https://api.deepgram.com';
export const FLUX_ENGLISH_MODEL = 'flux-general-en';
export const FLUX_MULTILINGUAL_MODEL = 'flux-general-multi';
/** The model for more languages than Flux; it does not detect turns. */
export const NOVA_MODEL = 'nova-3';

const ENGLISH = languageCodes('en');
/** @see https://developers.deepgram.com/docs/flux/language-prompting */
const FLUX_MULTI = languageCodes('de en es fr hi it ja nl pt ru');
/** @see https://developers.deepgram.com/docs/models-languages-overview */
const NOVA_3 = languageCodes(
  'be bg bn bs ca cs da de el en es et fi fr hi hr hu id it ja kn ko lt lv mk mr ms nl no pl pt ro ru sk sl sr sv ta te th tl tr uk vi zh',
);
const LANGUAGES: readonly (readonly [RegExp, ReadonlySet<string>])[] = [
  [/^flux-general-en/, ENGLISH],
  [/^flux-general-multi/, FLUX_MULTI],
  [/^nova-3/, NOVA_3],
];

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

/** @see https://developers.deepgram.com/docs/streaming-text-to-speech */
export const AURA_OPTIONS = z.strictObject({ mip_opt_out: z.boolean().optional() });

/** The settings that both protocols need. */
export interface DeepgramSettings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly options: unknown;
}

export function authorization(apiKey: string | undefined): { headers?: Record<string, string> } {
  return apiKey === undefined ? {} : { headers: { authorization: `Token ${apiKey}` } };
}

/** Flux models detect turns, and have a protocol of their own. */
export function isFluxModel(model: string | undefined): boolean {
  return model === undefined || model.startsWith('flux');
}

/** The model for these languages; English where they are not known. Nova hears no more of several at a time. */
export function deepgramModel(tags: readonly string[]): string {
  if (tags.every((tag) => hasLanguage(ENGLISH, tag))) return FLUX_ENGLISH_MODEL;
  return tags.length > 1 || tags.every((tag) => hasLanguage(FLUX_MULTI, tag))
    ? FLUX_MULTILINGUAL_MODEL
    : NOVA_MODEL;
}

function languages(model: string | undefined, tags: readonly string[]) {
  const name = model ?? deepgramModel(tags);
  if (name.startsWith(NOVA_MODEL) && tags.length > 1) return FLUX_MULTI;
  return LANGUAGES.find(([pattern]) => pattern.test(name))?.[1];
}

export const deepgram = {
  service: { name: 'Deepgram', baseUrl: BASE_URL },
  recognition: {
    models: [FLUX_ENGLISH_MODEL, FLUX_MULTILINGUAL_MODEL, NOVA_MODEL],
    options: ({ model }) => (isFluxModel(model) ? FLUX_OPTIONS : NOVA_OPTIONS),
    languages,
    tellsLanguages: ({ model }) => model === undefined || /^(nova-3|flux-general-multi)/.test(model),
  },
  synthesis: { options: AURA_OPTIONS, isMonolingual: true },
} satisfies Vendor;
