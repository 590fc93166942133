import { type Codec, type CodecFormat, constantPartBytes, requireRoom } from './codec.ts';

/** 10 is stereo and 11 mono at 44.1 kHz; SDP negotiates any other rate. */
const DYNAMIC_PAYLOAD_TYPE = undefined;

/**
 * Uncompressed samples in network byte order.
 *
 * @see RFC 3551 section 4.5.11
 */
export function l16(sampleRateHz: number): CodecFormat {
  const format: CodecFormat = {
    name: 'L16',
    staticPayloadType: DYNAMIC_PAYLOAD_TYPE,
    sampleRateHz,
    rtpClockRateHz: sampleRateHz,
    sdpChannels: 1,
    maxBytesPer20Ms: (2 * sampleRateHz) / 50,
    open: () => openL16(format),
  };
  return format;
}

function openL16(format: CodecFormat): Codec {
  return {
    format,
    partBytes: constantPartBytes(format),
    encode: writeBigEndian,
    decode: readBigEndian,
    close() {},
  };
}

/** @returns Bytes written. @throws {RangeError} When `out` is too small. */
function writeBigEndian(samples: Int16Array, out: Uint8Array): number {
  requireRoom(out.length, 2 * samples.length);
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] ?? 0;
    out[2 * i] = sample >> 8;
    out[2 * i + 1] = sample;
  }
  return 2 * samples.length;
}

/** @returns Samples written; an odd byte at the end is ignored. @throws {RangeError} When `out` is too small. */
function readBigEndian(bytes: Uint8Array, out: Int16Array): number {
  const count = bytes.length >> 1;
  requireRoom(out.length, count);
  for (let i = 0; i < count; i++) out[i] = ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0);
  return count;
}
