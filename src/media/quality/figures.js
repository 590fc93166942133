import { FRAME_DURATION_MS } from '../codecs/codec.js';
import { meanOpinionScore, ratingFactor } from './eModel.js';

/** One way through a carrier's network, where no round trip was measured: a country's width. */
const ASSUMED_NETWORK_DELAY_MS = 40;
/** Sums up a call, or as much of it as has passed. */
export function summarizeMedia(seen) {
  const packetsLost = seen.packetsLost + seen.packetsLate;
  const expected = seen.packetsReceived + seen.packetsLost;
  const networkDelayMs = seen.roundTripMs === undefined ? ASSUMED_NETWORK_DELAY_MS : seen.roundTripMs / 2;
  const rating = ratingFactor({
    codec: seen.codec,
    oneWayDelayMs: networkDelayMs + seen.bufferDelayMs + FRAME_DURATION_MS,
    lossRatio: expected === 0 ? 0 : packetsLost / expected,
    meanLossBurst: seen.lossBursts === 0 ? 1 : seen.packetsLost / seen.lossBursts,
  });
  return {
    codec: seen.codec,
    packetsReceived: seen.packetsReceived,
    packetsLost,
    jitterMs: seen.jitterMs,
    mos: seen.packetsReceived === 0 ? undefined : meanOpinionScore(rating),
  };
}
