import { wavHeader } from '../../src/media/wav.ts';

/** The bytes of a WAV file of one channel. */
export function encodeWav(samples: Int16Array, sampleRateHz: number): Uint8Array {
  const header = wavHeader({ sampleRateHz, channels: 1 }, samples.byteLength);
  return Buffer.concat([header, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)]);
}
