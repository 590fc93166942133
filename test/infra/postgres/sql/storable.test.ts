import { expect, test } from 'vitest';

import { storableJson, storableText } from '../../../../src/infra/postgres/sql/storable.ts';

test.each([
  ['nothing odd', { a: ['ü', '😀', 1, null, true] }, '{"a":["ü","😀",1,null,true]}'],
  ['a NUL character', { a: 'b\0c' }, '{"a":"b\ufffdc"}'],
  ['one in a key', { 'a\0': 1 }, '{"a\ufffd":1}'],
  ['a lone surrogate', ['a\ud83db', '\ude00'], '["a\ufffdb","\ufffd"]'],
  ['what only looks like one', ['\\u0000', '\\ud83d'], '["\\\\u0000","\\\\ud83d"]'],
  ['another control character', ['\u0001'], '["\\u0001"]'],
  ['both', { a: ['\\u0000', '\0', { b: undefined }] }, '{"a":["\\\\u0000","\ufffd",{}]}'],
])('%s', (_what, value, json) => {
  expect(storableJson(value)).toBe(json);
});

test('A text becomes storable', () => {
  expect(storableText('a\0b\ud83dc😀')).toBe('a\ufffdb\ufffdc😀');
});
