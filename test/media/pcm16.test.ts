import { expect, test } from 'vitest';

import { readPcm16, writePcm16 } from '../../src/media/pcm16.ts';

// 0x0102, -1, and an odd byte.
const BYTES = [0x02, 0x01, 0xff, 0xff, 0x7f];

test.each([0, 1, 2, 3])('readPcm16 reads samples at byte offset %d', (offset) => {
  const memory = Uint8Array.from([...new Array<number>(offset).fill(0x55), ...BYTES]);
  expect([...readPcm16(memory.subarray(offset))]).toEqual([0x0102, -1]);
});

test('readPcm16 reads the samples of writePcm16', () => {
  const samples = Int16Array.of(0, 1, -1, 32_767, -32_768);
  expect(readPcm16(writePcm16(samples))).toEqual(samples);
});
