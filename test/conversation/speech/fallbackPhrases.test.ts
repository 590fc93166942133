import { expect, test } from 'vitest';

import { fallbackPhrasesOf } from '../../../src/conversation/speech/fallbackPhrases.ts';

test('Fallback phrases are in the session’s language, or in English', () => {
  expect(fallbackPhrasesOf('zh-TW').filler).toBe('請稍等一下。');
  expect(fallbackPhrasesOf('fi').filler).toBe('One moment, please.');
});
