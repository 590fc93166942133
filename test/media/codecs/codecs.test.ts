import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { timestampTicksPerFrame } from '../../../src/media/codecs/codec.ts';
import { ComfortNoise, parseComfortNoiseLevel } from '../../../src/media/codecs/comfortNoise.ts';
import { g722 } from '../../../src/media/codecs/g722/g722.ts';
import { l16 } from '../../../src/media/codecs/l16.ts';
import { createOpus, DEFAULT_OPUS_SETTINGS } from '../../../src/media/codecs/opus.ts';
import { createCodecRegistry } from '../../../src/media/codecs/registry.ts';
import { createRandom, rootMeanSquare, tone, tonePower, voiced } from '../support/signals.ts';

/** Integers only, the same on every machine: a square wave of falling pitch in growing noise. */
function g722Input(): Int16Array {
  const random = createRandom(123_456_789);
  const samples = new Int16Array(32_000);
  for (let n = 0; n < samples.length; n++) {
    const amplitude = [300, 4000, 20_000, 32_767][Math.floor(n / 8000)] ?? 0;
    const square = Math.floor((n * n) / 40_000) % 2 === 0 ? amplitude : -amplitude;
    samples[n] = Math.max(-32_768, Math.min(32_767, Math.floor((random() * 2 - 1) * amplitude + square / 2)));
  }
  return samples;
}
const sha256 = (bytes: ArrayBufferView) =>
  createHash('sha256')
    .update(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    .digest('hex');

describe('G.722', () => {
  // Digests of FFmpeg 5.1's output for the same input.
  it('encodes bit-exactly as another implementation', () => {
    const encoded = new Uint8Array(16_000);
    expect(g722.open().encode(g722Input(), encoded)).toBe(16_000);
    expect(sha256(encoded)).toBe('732009485f97a120c8ce09890445cc4853a274ae803bb1b9d499a22543391379');
  });

  it('decodes bit-exactly as another implementation', () => {
    const random = createRandom(42);
    const bytes = Uint8Array.from({ length: 16_000 }, () => Math.floor(random() * 256));
    const decoded = new Int16Array(32_000);
    expect(g722.open().decode(bytes, decoded)).toBe(32_000);
    expect(sha256(decoded)).toBe('2a163baf4b3cbfd032ed8215d3a38bb9c814078d607909d2bb6ab06d88566451');
  });

  it('carries wideband speech', () => {
    const codec = g722.open();
    for (const frequencyHz of [200, 1000, 3000, 5000, 6500]) {
      const samples = tone(16_000, frequencyHz, 8000);
      const bytes = new Uint8Array(4000);
      const decoded = new Int16Array(8000);
      codec.decode(bytes.subarray(0, codec.encode(samples, bytes)), decoded);
      const level = tonePower(decoded.subarray(3200), 16_000, frequencyHz) / 10_000 ** 2;
      expect(10 * Math.log10(level)).toBeGreaterThan(-1.5);
      expect(10 * Math.log10(level)).toBeLessThan(1.5);
    }
  });

  it('has an RTP clock of 8 kHz', () => {
    expect([g722.sampleRateHz, timestampTicksPerFrame(g722)]).toEqual([16_000, 160]);
  });
});

describe('Opus', () => {
  const opus = createOpus();

  it('carries speech at 16 kHz in packets of about 60 bytes', () => {
    const codec = opus.open();
    const samples = voiced(16_000, 32_000);
    const decoded = new Int16Array(32_000);
    const packet = new Uint8Array(opus.maxBytesPer20Ms);
    let bytes = 0;
    for (let at = 0; at < samples.length; at += 320) {
      const length = codec.encode(samples.subarray(at, at + 320), packet);
      bytes += length;
      expect(codec.decode(packet.subarray(0, length), decoded.subarray(at))).toBe(320);
    }
    expect(bytes / 100).toBeGreaterThan(20);
    expect(bytes / 100).toBeLessThan(100);
    expect(rootMeanSquare(decoded) / rootMeanSquare(samples)).toBeCloseTo(1, 0);
    codec.close();
    codec.close();
  });

  it('conceals losses, fading to silence', () => {
    const codec = opus.open();
    const samples = tone(16_000, 200, 3200);
    const packet = new Uint8Array(1275);
    const decoded = new Int16Array(320);
    for (let at = 0; at < samples.length; at += 320) {
      codec.decode(packet.subarray(0, codec.encode(samples.subarray(at, at + 320), packet)), decoded);
    }
    const guess = new Int16Array(320);
    codec.conceal?.(guess);
    expect(rootMeanSquare(guess)).toBeGreaterThan(3000);
    for (let n = 0; n < 50; n++) codec.conceal?.(guess);
    expect(rootMeanSquare(guess)).toBeLessThan(50);
  });

  it('decodes longer packets, up to the size of the output', () => {
    const codec = opus.open();
    const packet = new Uint8Array(1275);
    const length = codec.encode(voiced(16_000, 960), packet);
    expect(codec.decode(packet.subarray(0, length), new Int16Array(1920))).toBe(960);
    expect(codec.decode(packet.subarray(0, length), new Int16Array(320))).toBe(0);
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['a count of frames of 0', Uint8Array.of(0x03, 0x00)],
    ['more than a packet can be', new Uint8Array(5000)],
  ])('decodes %s to no samples', (_, payload) => {
    expect(opus.open().decode(payload, new Int16Array(1920))).toBe(0);
  });

  it('refuses unsupported frame lengths and settings', () => {
    expect(() => opus.open().encode(new Int16Array(123), new Uint8Array(1275))).toThrow('123 samples');
    const settings = { ...DEFAULT_OPUS_SETTINGS, complexity: 11 };
    expect(() => createOpus(settings).open()).toThrow('libopus');
  });

  it('frees the memory of a thousand streams', () => {
    const packet = new Uint8Array(1275);
    for (let n = 0; n < 1000; n++) {
      const codec = opus.open();
      codec.encode(new Int16Array(320), packet);
      codec.close();
    }
    const codec = opus.open();
    expect(codec.encode(new Int16Array(320), packet)).toBeGreaterThan(0);
  });
});

describe('L16', () => {
  it('is big-endian', () => {
    const samples = Int16Array.of(1, -2, 0x1234, -32_768);
    const bytes = new Uint8Array(8);
    expect(l16(8000).open().encode(samples, bytes)).toBe(8);
    expect([...bytes]).toEqual([0x00, 0x01, 0xff, 0xfe, 0x12, 0x34, 0x80, 0x00]);
    const back = new Int16Array(4);
    expect(l16(8000).open().decode(bytes, back)).toBe(4);
    expect(back).toEqual(samples);
  });

  it('ignores an odd byte, and checks the output’s room', () => {
    expect(
      l16(8000)
        .open()
        .decode(Uint8Array.of(0, 1, 2), new Int16Array(4)),
    ).toBe(1);
    expect(() => l16(8000).open().encode(new Int16Array(2), new Uint8Array(3))).toThrow(RangeError);
    expect(() => l16(8000).open().decode(new Uint8Array(4), new Int16Array(1))).toThrow(RangeError);
  });
});

describe('codec registry', () => {
  const registry = createCodecRegistry();

  it.each([
    ['PCMU', 8000, 1, 'PCMU'],
    ['pcma', 8000, undefined, 'PCMA'],
    ['G722', 8000, 1, 'G722'],
    ['OPUS', 48_000, 2, 'opus'],
    ['L16', 16_000, 1, 'L16'],
    ['G722', 16_000, 1, undefined],
    ['opus', 48_000, 1, undefined],
    ['L16', 44_100, 1, undefined],
    ['L16', 16_000, 2, undefined],
    ['PCMU', 16_000, 1, undefined],
    ['CN', 8000, 1, undefined],
    ['telephone-event', 8000, 1, undefined],
    ['G729', 8000, 1, undefined],
  ])('%s/%d/%s is %s', (encodingName, rtpClockRateHz, channels, name) => {
    const description = { encodingName, rtpClockRateHz, ...(channels === undefined ? {} : { channels }) };
    expect(registry.find(description)?.name).toBe(name);
  });

  it('finds the static payload types', () => {
    expect([0, 8, 9, 13, 96].map((type) => registry.findStatic(type)?.name)).toEqual([
      'PCMU',
      'PCMA',
      'G722',
      undefined,
      undefined,
    ]);
  });

  it('loads Opus once, on first use', () => {
    let loads = 0;
    const lazy = createCodecRegistry(() => {
      loads++;
      return createOpus();
    });
    expect(loads).toBe(0);
    const description = { encodingName: 'opus', rtpClockRateHz: 48_000, channels: 2 };
    expect(lazy.find(description)).toBe(lazy.find(description));
    expect(loads).toBe(1);
  });

  it.each(['PCMU', 'PCMA', 'G722', 'L16'])('%s decodes its own silence to silence', (encodingName) => {
    const codec = registry.find({ encodingName, rtpClockRateHz: 8000 })?.open();
    const bytes = new Uint8Array(320);
    const decoded = new Int16Array(320);
    const length = codec?.encode(new Int16Array(160), bytes) ?? 0;
    codec?.decode(bytes.subarray(0, length), decoded);
    expect(rootMeanSquare(decoded)).toBeLessThanOrEqual(8);
  });
});

describe('comfort noise', () => {
  it.each([
    [Uint8Array.of(0), 0],
    [Uint8Array.of(78, 1, 2, 3), 78], // with a spectrum
    [Uint8Array.of(127), 127],
    [Uint8Array.of(128), undefined],
    [new Uint8Array(0), undefined],
  ])('reads %j as %s dB below overload', (payload, level) => {
    expect(parseComfortNoiseLevel(payload)).toBe(level);
  });

  it.each([20, 40, 60])('has a level of %d dB below overload', (level) => {
    const noise = new ComfortNoise(7);
    noise.setLevel(level);
    const samples = new Int16Array(16_000);
    noise.fill(samples);
    expect(20 * Math.log10(rootMeanSquare(samples) / 32_767)).toBeCloseTo(-level, 0);
  });

  it('is silent without a level', () => {
    const samples = new Int16Array(160).fill(9);
    new ComfortNoise(7).fill(samples);
    expect(rootMeanSquare(samples)).toBe(0);
  });
});
