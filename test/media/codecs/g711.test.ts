import { describe, expect, it } from 'vitest';
import type { CodecFormat } from '../../../src/media/codecs/codec.ts';
import { pcma, pcmu } from '../../../src/media/codecs/g711.ts';

const encodeOne = (format: CodecFormat, sample: number) => {
  const out = new Uint8Array(1);
  format.open().encode(Int16Array.of(sample), out);
  return out[0];
};
const decodeAll = (format: CodecFormat) => {
  const out = new Int16Array(256);
  format.open().decode(
    Uint8Array.from({ length: 256 }, (_, code) => code),
    out,
  );
  return out;
};

describe.each([
  // ITU-T G.711 tables 2a and 2b: output values in 14 bits, here times 4
  { format: pcmu, code: 0x80, value: 8031 * 4 },
  { format: pcmu, code: 0x8f, value: 4191 * 4 },
  { format: pcmu, code: 0x9f, value: 2079 * 4 },
  { format: pcmu, code: 0xfe, value: 2 * 4 },
  { format: pcmu, code: 0xff, value: 0 },
  { format: pcmu, code: 0x7e, value: -2 * 4 },
  { format: pcmu, code: 0x00, value: -8031 * 4 },
  // tables 1a and 1b: output values in 13 bits, here times 8; even bits inverted
  { format: pcma, code: 0x80 ^ 0x55, value: 1 * 8 },
  { format: pcma, code: 0xff ^ 0x55, value: 4032 * 8 },
  { format: pcma, code: 0xf0 ^ 0x55, value: 2112 * 8 },
  { format: pcma, code: 0x90 ^ 0x55, value: 33 * 8 },
  { format: pcma, code: 0x00 ^ 0x55, value: -1 * 8 },
  { format: pcma, code: 0x7f ^ 0x55, value: -4032 * 8 },
])('$format.name code $code', ({ format, code, value }) => {
  it(`decodes to ${value}, which encodes to it`, () => {
    expect(decodeAll(format)[code]).toBe(value);
    expect(encodeOne(format, value)).toBe(code);
  });
});

describe.each([pcmu, pcma])('$name', (format) => {
  it('re-encodes every code word, but for the second zero of µ-law', () => {
    const values = decodeAll(format);
    const codes = new Uint8Array(256);
    format.open().encode(values, codes);
    const changed = [...codes.keys()].filter((code) => codes[code] !== code);
    expect(changed).toEqual(format.name === 'PCMU' ? [0x7f] : []);
  });

  it('is off by at most half an interval of the segment', () => {
    const samples = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);
    const codes = new Uint8Array(65_536);
    const codec = format.open();
    codec.encode(samples, codes);
    const decoded = new Int16Array(65_536);
    codec.decode(codes, decoded);
    const isMuLaw = format.name === 'PCMU';
    // µ-law clips at 8159 of its 14 bits; the lowest two (µ) or four (A) bits are ignored.
    const loudest = isMuLaw ? 8159 * 4 : 32_768;
    const cutOff = isMuLaw ? 3 : 15;
    const tooFar = [...samples.keys()].filter((index) => {
      const segment = (((codes[index] ?? 0) ^ (isMuLaw ? 0xff : 0x55)) >> 4) & 7;
      const halfInterval = isMuLaw ? 4 << segment : 8 << Math.max(0, segment - 1);
      const sample = Math.max(-loudest, Math.min(loudest, samples[index] ?? 0));
      return Math.abs((decoded[index] ?? 0) - sample) > halfInterval + cutOff;
    });
    expect(tooFar).toEqual([]);
  });

  it('is monotonic', () => {
    const samples = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);
    const codes = new Uint8Array(65_536);
    const codec = format.open();
    codec.encode(samples, codes);
    codec.decode(codes, samples);
    expect(samples.every((value, index) => index === 0 || value >= (samples[index - 1] ?? 0))).toBe(true);
  });

  it('checks the room of its output', () => {
    expect(() => format.open().encode(new Int16Array(2), new Uint8Array(1))).toThrow(RangeError);
    expect(() => format.open().decode(new Uint8Array(2), new Int16Array(1))).toThrow(RangeError);
  });
});
