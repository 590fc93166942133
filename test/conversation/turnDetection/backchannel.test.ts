import { expect, test } from 'vitest';

import { isBackchannel } from '../../../src/conversation/turnDetection/backchannel.ts';

test.each([
  ['mm-hm', 400, 'en', true],
  ['Okay, right.', 600, 'en', true],
  ['uh huh', 500, 'en', true],
  ['對', 300, 'zh-TW', true],
  ['嗯嗯', 400, 'zh-TW', true],
  ['ok', 300, 'zh-TW', true],
  ['對', 300, 'en', false],
  ['sí, claro', 500, 'es', true],
  ['okay', 1200, 'en', true],
  ['okay', 1220, 'en', false],
  ['okay okay okay', 900, 'en', true],
  ['yes but no', 600, 'en', false],
  ['stop', 300, 'en', false],
  ['okay okay okay okay', 900, 'en', false],
  ['', 300, 'en', false],
])('%j of %i ms in %s is a backchannel: %s', (text, voicedMs, language, expected) => {
  expect(isBackchannel(text, voicedMs, language)).toBe(expected);
});
