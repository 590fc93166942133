import { expect, test } from 'vitest';

import { withoutLeadingSilence } from '../../../src/voice/speech/audibility.ts';

const quiet = (length: number) => Array(length).fill(30);

test.each([
  ['one second of silence', [...quiet(8000), 900, 30, 900], 160 + 3],
  ['10 ms of silence', [...quiet(80), -900, 900], 82],
  ['no silence', [900, 30], 2],
  ['nothing but silence', quiet(400), 0],
  ['no samples', [], 0],
])('Leading silence is trimmed to 20 ms: %s', (_, samples, length) => {
  const left = withoutLeadingSilence(Int16Array.from(samples), 8000);
  expect([...left]).toEqual(samples.slice(samples.length - length));
});
