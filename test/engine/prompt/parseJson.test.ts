import { expect, test } from 'vitest';
import { startStopwatch } from '../../../src/base/async/stopwatch.ts';
import { parseJson } from '../../../src/engine/prompt/questions.ts';

const JSON_TEXT = '{"a": {"b": 1}}';
const LINES = '{\n  "a": {\n    "b": 1\n  }\n}';

test.each([
  ['alone', JSON_TEXT],
  ['in a fence', `\`\`\`json\n${LINES}\n\`\`\``],
  ['in prose on its line', `Here it is: ${JSON_TEXT} Is it right?`],
  ['below braces', `The object {a, b} follows.\n\n${JSON_TEXT}`],
  ['above braces', `${LINES}\n\nNote: {b} was counted.`],
  ['in a fence between braces', `From {a}:\n\`\`\`json\n${LINES}\n\`\`\`\nI left {c} out.`],
])('JSON is found %s', (_, text) => {
  expect(parseJson(text)).toEqual({ a: { b: 1 } });
});

test.each(['', 'No.', '{"a": ', "{'a': 1}", '{"a": NaN}', '{"a": 1,}', '} {'])(
  'No JSON is found in %j',
  (text) => {
    expect(parseJson(text)).toBeUndefined();
  },
);

test('Text without end is searched once', () => {
  const work = startStopwatch();
  expect(parseJson('{\n'.repeat(50_000) + '} '.repeat(10_000))).toBeUndefined();
  expect(work.elapsedMs()).toBeLessThan(1_000);
});
