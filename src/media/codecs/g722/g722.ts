import { type CodecFormat, constantPartBytes, requireRoom } from '../codec.ts';
import { G722Decoder } from './decoder.ts';
import { G722Encoder } from './encoder.ts';

/**
 * Wideband speech at 64 kbit/s. Its RTP clock is 8 kHz, by an old error that RFC 3551 keeps.
 *
 * @see ITU-T G.722, RFC 3551 section 4.5.2
 */
export const g722: CodecFormat = {
  name: 'G722',
  staticPayloadType: 9,
  sampleRateHz: 16_000,
  rtpClockRateHz: 8000,
  sdpChannels: 1,
  maxBytesPer20Ms: 160,
  open() {
    const encoder = new G722Encoder();
    const decoder = new G722Decoder();
    return {
      format: g722,
      partBytes: constantPartBytes(g722),
      encode(samples, out) {
        requireRoom(out.length, samples.length >> 1);
        return encoder.encode(samples, out);
      },
      decode(payload, out) {
        requireRoom(out.length, 2 * payload.length);
        return decoder.decode(payload, out);
      },
      close() {},
    };
  },
};
