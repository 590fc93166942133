import { requireRoom } from './codec.js';
import { aLawTables, muLawTables } from './g711Tables.js';

const SAMPLE_RATE_HZ = 8000;
/** µ-law, as telephony in North America and Japan has it. @see ITU-T G.711 table 2, RFC 3551 section 4.5.14 */
export const pcmu = companded('PCMU', 0, muLawTables);
/** A-law, as the rest of the world has it. @see ITU-T G.711 table 1, RFC 3551 section 4.5.14 */
export const pcma = companded('PCMA', 8, aLawTables);
/** Code words for silence, for filling a frame without an encoder. */
export const MU_LAW_SILENCE = 0xff;
export const A_LAW_SILENCE = 0xd5;
function companded(name, staticPayloadType, tables) {
  const format = {
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
function openCompanded(format, { encode, shift, decode }) {
  const mask = encode.length - 1;
  return {
    format,
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
