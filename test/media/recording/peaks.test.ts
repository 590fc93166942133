import { expect, test } from 'vitest';

import { measurePeaks } from '../../../src/media/recording/peaks.ts';
import { interleaveStereo, wavHeader } from '../../../src/media/wav.ts';

/** @param chunkBytes - How the file is read. */
async function measured(left: Int16Array, right: Int16Array, chunkBytes: number) {
  const samples = new Int16Array(2 * left.length);
  interleaveStereo(left, right, samples);
  const header = wavHeader({ sampleRateHz: 8000, channels: 2 }, samples.byteLength);
  const file = Buffer.concat([header, new Uint8Array(samples.buffer)]);
  async function* read() {
    for (let at = 0; at < file.length; at += chunkBytes) yield file.subarray(at, at + chunkBytes);
  }
  const { intervalMs, caller, agent } = await measurePeaks(read(), file.length);
  return { intervalMs, caller: [...Buffer.from(caller, 'base64')], agent: [...Buffer.from(agent, 'base64')] };
}

test.each([7, 45, 1000, 1_000_000])('Peaks of a recording read in chunks of %d bytes', async (chunkBytes) => {
  // 50 ms: two stretches of 20 ms, and a part of one.
  const left = new Int16Array(400);
  const right = new Int16Array(400);
  left[159] = -32_768;
  left[160] = 16_384;
  right[399] = 128;
  expect(await measured(left, right, chunkBytes)).toEqual({
    intervalMs: 20,
    caller: [255, 128, 0],
    agent: [0, 0, 1],
  });
});

test('Peaks of a long recording have longer stretches', async () => {
  const silence = new Int16Array(8000 * 1001);
  const { intervalMs, caller } = await measured(silence, silence.with(8000 * 1000, 20_000), 1_000_000);
  expect(intervalMs).toBe(40);
  expect(caller).toHaveLength(25_025);
});

test('Peaks of an empty recording are empty', async () =>
  expect(await measured(new Int16Array(0), new Int16Array(0), 10)).toMatchObject({ caller: [], agent: [] }));
