import { languageCode } from '../../base/values/languageCode.ts';
import type { RecognitionProvider } from './providerNames.ts';
import {
  FLUX_ENGLISH_MODEL,
  FLUX_MULTILINGUAL_MODEL,
  NOVA_MODEL,
  SONIOX_MODEL,
  UNIVERSAL_ENGLISH_MODEL,
  UNIVERSAL_MULTILINGUAL_MODEL,
  UNIVERSAL_PRO_MODEL,
} from './speechModels.ts';

/*
 * The languages that recognizers hear, by their codes, as the vendors publish them. A model that is not here is taken to
 * hear any.
 */

const codes = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const ENGLISH = codes('en');
/** @see https://developers.deepgram.com/docs/flux/language-prompting */
const FLUX_MULTI = codes('de en es fr hi it ja nl pt ru');
/** @see https://developers.deepgram.com/docs/models-languages-overview */
const NOVA_3 = codes(
  'be bg bn bs ca cs da de el en es et fi fr hi hr hu id it ja kn ko lt lv mk mr ms nl no pl pt ro ru sk sl sr sv ta te th tl tr uk vi zh',
);
/** @see https://www.assemblyai.com/docs/streaming/select-the-speech-model */
const UNIVERSAL_MULTI = codes('de en es fr it pt');
const UNIVERSAL_PRO = codes('ar da de en es fi fr he hi it ja nl no pt sv tr ur vi zh');
/** @see https://soniox.com/docs/stt/concepts/supported-languages */
const SONIOX = codes(
  'af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr gl gu he hi hr hu id it ja kk kn ko lt lv mk ml mr ms nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur vi zh',
);

const OF_MODELS: readonly (readonly [RegExp, ReadonlySet<string>])[] = [
  [/^flux-general-en/, ENGLISH],
  [/^flux-general-multi/, FLUX_MULTI],
  [/^nova-3/, NOVA_3],
  [/^universal-streaming-english/, ENGLISH],
  [/^universal-streaming-multilingual|^u3-/, UNIVERSAL_MULTI],
  [/^universal-3-/, UNIVERSAL_PRO],
  [/^stt-rt/, SONIOX],
];

/**
 * The model of Deepgram for these languages; English where they are not known. Nova hears no more of several at a time.
 */
export function deepgramModel(tags: readonly string[]): string {
  if (tags.every((tag) => has(ENGLISH, tag))) return FLUX_ENGLISH_MODEL;
  return tags.length > 1 || tags.every((tag) => has(FLUX_MULTI, tag)) ? FLUX_MULTILINGUAL_MODEL : NOVA_MODEL;
}

/** The model of AssemblyAI for these languages; the multilingual one where they are not known. */
export function assemblyAiModel(tags: readonly string[]): string {
  if (tags.length > 0 && tags.every((tag) => has(ENGLISH, tag))) return UNIVERSAL_ENGLISH_MODEL;
  return tags.every((tag) => has(UNIVERSAL_MULTI, tag)) ? UNIVERSAL_MULTILINGUAL_MODEL : UNIVERSAL_PRO_MODEL;
}

/** Returns the languages that a provider's model is not known to support. */
export function unheardLanguages(
  provider: RecognitionProvider,
  model: string | undefined,
  tags: readonly string[],
): readonly string[] {
  const known = provider === 'local' ? ENGLISH : languagesOf(model ?? defaultModel(provider, tags), tags);
  return known ? tags.filter((tag) => !has(known, tag)) : [];
}

function defaultModel(provider: RecognitionProvider, tags: readonly string[]): string {
  if (provider === 'deepgram') return deepgramModel(tags);
  if (provider === 'assemblyai') return assemblyAiModel(tags);
  return provider === 'soniox' ? SONIOX_MODEL : '';
}

function languagesOf(model: string, tags: readonly string[]): ReadonlySet<string> | undefined {
  if (model.startsWith(NOVA_MODEL) && tags.length > 1) return FLUX_MULTI;
  return OF_MODELS.find(([pattern]) => pattern.test(model))?.[1];
}

function has(languages: ReadonlySet<string>, tag: string): boolean {
  return languages.has(languageCode(tag));
}
