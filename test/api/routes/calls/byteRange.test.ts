import { expect, it } from 'vitest';
import { parseRange } from '../../../../src/api/routes/calls/recordings.ts';

it.each([
  [undefined, undefined],
  ['bytes=0-99', { first: 0, last: 99 }],
  ['bytes=100-', { first: 100 }],
  ['bytes=-50', { suffixLength: 50 }],
  ['bytes=5-4', undefined],
  ['bytes=0-1,5-6', undefined],
  ['bytes=-', undefined],
  ['bytes=a-b', undefined],
  ['lines=0-9', undefined],
  ['bytes=0-99999999999999999', undefined],
])('reads %s', (header, range) => {
  expect(parseRange(header)).toEqual(range);
});
