import { type Codec, type CodecFormat, constantPartBytes, requireRoom } from './codec.ts';

/** A companding law as tables, computed once from its definition. @see ITU-T G.711 tables 1 and 2 */
interface CompandingTables {
  /** Code word by the sample's upper bits. */
  readonly encode: Uint8Array;
  /** Number of lower bits that the law ignores. */
  readonly shift: number;
  readonly decode: Int16Array;
}

const SAMPLE_RATE_HZ = 8000;

/** The tables that compress 14 bits to 8. */
const muLawTables = buildTables(
  2,
  (sample) => {
    const isNegative = sample < 0;
    // With a bias of 33 the segments start at powers of two; above 8158 the law clips.
    const magnitude = Math.min((isNegative ? ~sample : sample) + 33, 0x1fff);
    const segment = 26 - Math.clz32(magnitude);
    const interval = (magnitude >> (segment + 1)) & 0x0f;
    return ~((isNegative ? 0x80 : 0) | (segment << 4) | interval) & 0xff;
  },
  (code) => {
    const inverted = ~code & 0xff;
    const segment = (inverted >> 4) & 0x07;
    const magnitude = ((((inverted & 0x0f) << 1) + 33) << segment) - 33;
    return (inverted & 0x80) === 0 ? magnitude << 2 : -(magnitude << 2);
  },
);

/** 12 bits to 8; even bits are inverted on the wire. */
const aLawTables = buildTables(
  4,
  (sample) => {
    const isNegative = sample < 0;
    const magnitude = isNegative ? ~sample : sample;
    const segment = Math.max(0, 28 - Math.clz32(magnitude));
    const interval = (segment < 2 ? magnitude : magnitude >> (segment - 1)) & 0x0f;
    return ((isNegative ? 0 : 0x80) | (segment << 4) | interval) ^ 0x55;
  },
  (code) => {
    const straight = code ^ 0x55;
    const segment = (straight >> 4) & 0x07;
    const interval = (straight & 0x0f) * 2 + 1;
    const magnitude = segment === 0 ? interval : (interval + 32) << (segment - 1);
    return (straight & 0x80) === 0 ? -(magnitude << 3) : magnitude << 3;
  },
);

/** µ-law, used in North America and Japan. @see ITU-T G.711 table 2, RFC 3551 section 4.5.14 */
export const pcmu: CodecFormat = companded('PCMU', 0, muLawTables);

/** A-law, used elsewhere. @see ITU-T G.711 table 1, RFC 3551 section 4.5.14 */
export const pcma: CodecFormat = companded('PCMA', 8, aLawTables);

function companded(name: 'PCMU' | 'PCMA', staticPayloadType: number, tables: CompandingTables): CodecFormat {
  const format: CodecFormat = {
    name,
    staticPayloadType,
    sampleRateHz: SAMPLE_RATE_HZ,
    rtpClockRateHz: SAMPLE_RATE_HZ,
    sdpChannels: 1,
    maxBytesPer20Ms: SAMPLE_RATE_HZ / 50,
    open: () => openCompanded(format, tables),
  };
  return format;
}

function openCompanded(format: CodecFormat, { encode, shift, decode }: CompandingTables): Codec {
  const mask = encode.length - 1;
  return {
    format,
    partBytes: constantPartBytes(format),
    encode(samples, out) {
      requireRoom(out.length, samples.length);
      for (let i = 0; i < samples.length; i++) out[i] = encode[((samples[i] ?? 0) >> shift) & mask] ?? 0;
      return samples.length;
    },
    decode(payload, out) {
      requireRoom(out.length, payload.length);
      for (let i = 0; i < payload.length; i++) out[i] = decode[payload[i] ?? 0] ?? 0;
      return payload.length;
    },
    close() {},
  };
}

function buildTables(
  shift: number,
  compress: (sample: number) => number,
  expand: (code: number) => number,
): CompandingTables {
  const size = 0x10000 >> shift;
  const encode = new Uint8Array(size);
  for (let sample = -size / 2; sample < size / 2; sample++) encode[sample & (size - 1)] = compress(sample);
  return { encode, shift, decode: Int16Array.from({ length: 256 }, (_, code) => expand(code)) };
}
