import { expect, test } from 'vitest';

import { withoutLeadIn } from '../../../src/voice/speech/leadingSilence.ts';

const quiet = (length: number) => Array(length).fill(30);

test.each([
  ['quiet for a second', [...quiet(8000), 900, 30, 900], 160 + 3],
  ['quiet for 10 ms', [...quiet(80), -900, 900], 82],
  ['loud at once', [900, 30], 2],
  ['quiet alone', quiet(400), 0],
  ['nothing', [], 0],
])('%s', (_, samples, length) => {
  const left = withoutLeadIn(Int16Array.from(samples), 8000);
  expect([...left]).toEqual(samples.slice(samples.length - length));
});
