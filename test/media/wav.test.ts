import { describe, expect, it } from 'vitest';
import {
  interleaveStereo,
  parseWav,
  pickChannel,
  WAV_DATA_LENGTH_AT,
  WAV_HEADER_BYTES,
  WAV_MAX_DATA_BYTES,
  WAV_RIFF_LENGTH_AT,
  wavHeader,
} from '../../src/media/wav.ts';

const stereo = { sampleRateHz: 8000, channels: 2 } as const;
// biome-ignore format: one field a line
const header = [
  0x52, 0x49, 0x46, 0x46, // RIFF
  0x2c, 0x00, 0x00, 0x00, // 44 bytes follow
  0x57, 0x41, 0x56, 0x45, // WAVE
  0x66, 0x6d, 0x74, 0x20, // fmt_
  0x10, 0x00, 0x00, 0x00, // 16 bytes
  0x01, 0x00, 0x02, 0x00, // PCM, two channels
  0x40, 0x1f, 0x00, 0x00, // 8000 samples a second
  0x00, 0x7d, 0x00, 0x00, // 32000 bytes a second
  0x04, 0x00, 0x10, 0x00, // four bytes for both channels, 16 bits
  0x64, 0x61, 0x74, 0x61, // data
  0x08, 0x00, 0x00, 0x00, // 8 bytes
];
const file = Uint8Array.from([...header, 1, 0, 0xff, 0xff, 2, 0, 0xfe, 0xff]);

describe('wavHeader', () => {
  it('describes 16-bit stereo', () => {
    expect([...wavHeader(stereo, 8)]).toEqual(header);
    expect(header.length).toBe(WAV_HEADER_BYTES);
  });

  it('changes only in its two lengths as the file grows', () => {
    const [before, after] = [wavHeader(stereo, 0), wavHeader(stereo, 0x01020304)];
    const changed = [...before.keys()].filter((at) => before[at] !== after[at]);
    const lengths = [WAV_RIFF_LENGTH_AT, WAV_DATA_LENGTH_AT].flatMap((at) => [at, at + 1, at + 2, at + 3]);
    expect(changed).toEqual(lengths);
  });

  it.each([-4, 2, 4.5, Number.NaN, WAV_MAX_DATA_BYTES + 1, 2 ** 32])(
    'refuses %d bytes of stereo',
    (length) => {
      expect(() => wavHeader(stereo, length)).toThrow(RangeError);
    },
  );
});

describe('parseWav', () => {
  it('reads both channels', () => {
    const wav = parseWav(file);
    expect(wav).toMatchObject(stereo);
    expect([...pickChannel(wav, 0)]).toEqual([1, 2]);
    expect([...pickChannel(wav, 1)]).toEqual([-1, -2]);
  });

  it('reads from an odd offset', () => {
    const shifted = new Uint8Array(file.length + 1);
    shifted.set(file, 1);
    expect([...parseWav(shifted.subarray(1)).samples]).toEqual([1, -1, 2, -2]);
  });

  it('ignores other chunks, odd ones with their padding', () => {
    const list = [0x4c, 0x49, 0x53, 0x54, 3, 0, 0, 0, 9, 9, 9, 0];
    const bytes = Uint8Array.from([...file.subarray(0, 12), ...list, ...file.subarray(12)]);
    expect([...parseWav(bytes).samples]).toEqual([1, -1, 2, -2]);
  });

  it('does not search a file for its data without end', () => {
    const empty = new Uint8Array(8 * 1000);
    const bytes = Uint8Array.from([...file.subarray(0, 36), ...empty, ...file.subarray(36)]);
    expect(() => parseWav(bytes)).toThrow('no data chunk among its first 1000');
  });

  it('reads a truncated file', () => {
    expect([...parseWav(file.subarray(0, -1)).samples]).toEqual([1, -1]);
    expect([...parseWav(file.subarray(0, 44)).samples]).toEqual([]);
  });

  const patched = (at: number, value: number) =>
    Uint8Array.from(file, (byte, n) => (n === at ? value : byte));
  it.each([
    ['is not RIFF', patched(0, 0), 'not a WAV file'],
    ['is not WAVE', patched(8, 0), 'not a WAV file'],
    ['is empty', new Uint8Array(0), 'not a WAV file'],
    ['is µ-law', patched(20, 7), 'coding 7'],
    ['has 8 bits', patched(34, 8), '8 bits'],
    ['has three channels', patched(22, 3), '3 channels'],
    ['has no format', patched(12, 0x46), 'before its format'],
    ['has a truncated format', file.subarray(0, 30), 'truncated format'],
    ['has no data', patched(36, 0x44), 'no data'],
    [
      'is extensible without saying how',
      patched(20, 0xfe).map((byte, n) => (n === 21 ? 0xff : byte)),
      'coding 65534',
    ],
  ])('refuses a file that %s', (_, bytes, message) => {
    expect(() => parseWav(bytes)).toThrow(message);
  });
});

it('interleaveStereo interleaves two channels', () => {
  const out = new Int16Array(4);
  expect(interleaveStereo(Int16Array.of(1, 2), Int16Array.of(-1, -2), out)).toBe(4);
  expect([...out]).toEqual([1, -1, 2, -2]);
  expect(() => interleaveStereo(new Int16Array(2), new Int16Array(1), out)).toThrow(RangeError);
  expect(() => interleaveStereo(new Int16Array(3), new Int16Array(3), out)).toThrow(RangeError);
});
