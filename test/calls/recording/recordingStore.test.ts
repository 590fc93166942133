import { expect, test } from 'vitest';
import {
  type ByteRange,
  RangeNotSatisfiableError,
  requireRecordingKey,
  resolveByteRange,
} from '../../../src/calls/recording/recordingStore.ts';

test.each<[ByteRange | undefined, number, number]>([
  [undefined, 0, 99],
  [{ first: 0, last: 0 }, 0, 0],
  [{ first: 10, last: 19 }, 10, 19],
  [{ first: 10 }, 10, 99],
  [{ first: 99, last: 200 }, 99, 99],
  [{ suffixLength: 10 }, 90, 99],
  [{ suffixLength: 200 }, 0, 99],
])('Of 100 bytes the range %j is from %i to %i', (range, first, last) => {
  expect(resolveByteRange(range, 100)).toEqual({ first, last });
});

test.each<ByteRange>([{ first: 100 }, { first: 20, last: 19 }, { suffixLength: 0 }])(
  'Of 100 bytes none is in the range %j',
  (range) => {
    expect(() => resolveByteRange(range, 100)).toThrow(RangeNotSatisfiableError);
    expect(() => resolveByteRange(range, 100)).toThrow(
      expect.objectContaining({
        name: 'RangeNotSatisfiableError',
        totalBytes: 100,
        message: 'the range lies outside of 100 bytes',
      }),
    );
  },
);

test('A key of a recording cannot leave the store, and has at most 200 characters', () => {
  for (const key of ['call.wav', 'project/call.wav', 'a'.repeat(200)])
    expect(() => requireRecordingKey(key)).not.toThrow();
  for (const key of ['', '/call.wav', '../call.wav', 'project//call.wav', 'a b', 'a'.repeat(201)])
    expect(() => requireRecordingKey(key)).toThrow(RangeError);
});
