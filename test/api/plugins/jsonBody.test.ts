import { expect, test } from 'vitest';
import { MAX_JSON_VALUES, parseJsonBody } from '../../../src/api/plugins/jsonBody.ts';

const parse = (text: string) => parseJsonBody(Buffer.from(text));
const list = (length: number) => `[${Array.from({ length }, () => '0').join()}]`;

test.each([
  ['brackets and commas within strings', `{"a":"${'[,{'.repeat(MAX_JSON_VALUES)}","b":1}`],
  ['escaped quotes', `["\\"${',['.repeat(MAX_JSON_VALUES)}\\\\","${'\\\\\\"'.repeat(100)}"]`],
  ['as many values as allowed', list(MAX_JSON_VALUES)],
])('A body with %s is parsed', (_what, text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test.each([
  ['more values than allowed', list(MAX_JSON_VALUES + 1), 'too_many_values'],
  ['more behind an escaped backslash', `["\\\\",${list(MAX_JSON_VALUES)}]`, 'too_many_values'],
  ['64 levels behind a string', `["${'x'.repeat(200)}",${'['.repeat(64)}${']'.repeat(64)}]`, 'json_too_deep'],
  ['a string without an end', `["${',['.repeat(MAX_JSON_VALUES)}`, 'invalid_json'],
])('A body with %s is refused', (_what, text, code) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ code }));
});
