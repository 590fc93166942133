import { expect, test } from 'vitest';
import { assemblyAiModel } from '../../src/vendors/assemblyai/vendor.ts';
import { deepgramModel } from '../../src/vendors/deepgram/vendor.ts';
import { type RecognitionProvider, unheardLanguages } from '../../src/vendors/registry.ts';

test.each([
  [[], 'flux-general-en', 'universal-streaming-multilingual'],
  [['en-GB'], 'flux-general-en', 'universal-streaming-english'],
  [['de-AT'], 'flux-general-multi', 'universal-streaming-multilingual'],
  [['en', 'es'], 'flux-general-multi', 'universal-streaming-multilingual'],
  [['ja'], 'flux-general-multi', 'universal-3-6-pro'],
  [['zh-TW'], 'nova-3', 'universal-3-6-pro'],
  [['en', 'zh-TW'], 'flux-general-multi', 'universal-3-6-pro'],
])('Of the languages %j Deepgram’s model is %s, AssemblyAI’s %s', (tags, deepgram, assemblyai) => {
  expect([deepgramModel(tags), assemblyAiModel(tags)]).toEqual([deepgram, assemblyai]);
});

test.each<[RecognitionProvider, string | undefined, string[], string[]]>([
  ['deepgram', undefined, ['zh-TW'], []],
  ['deepgram', undefined, ['en', 'zh-TW'], ['zh-TW']],
  ['deepgram', 'nova-3-medical', ['ko'], []],
  ['deepgram', 'nova-3', ['en', 'ko'], ['ko']],
  ['deepgram', 'flux-general-en', ['de'], ['de']],
  ['deepgram', 'nova-2', ['zu'], []],
  ['assemblyai', 'universal-streaming-english', ['de'], ['de']],
  ['assemblyai', undefined, ['zh'], []],
  ['soniox', undefined, ['zh', 'am'], ['am']],
  ['openai', undefined, ['zu'], []],
  ['local', undefined, ['en-GB', 'zh'], ['zh']],
])('%s with the model %s and the languages %j is not known to hear %j', (provider, model, tags, unheard) => {
  expect(unheardLanguages(provider, model, tags)).toEqual(unheard);
});
