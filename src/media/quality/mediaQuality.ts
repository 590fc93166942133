import { type CodecName, FRAME_DURATION_MS } from '../codecs/codec.ts';
import { meanOpinionScore, ratingFactor } from './eModel.ts';

/** How a call's media did, as the API shows it. */
export interface MediaQuality {
  readonly codec: CodecName;
  readonly packetsReceived: number;
  /** Never arrived, or arrived too late to be played. */
  readonly packetsLost: number;
  readonly jitterMs: number;
  /** 1 to 4.5; undefined before anything was received. */
  readonly mos: number | undefined;
}

export interface MediaObservations {
  readonly codec: CodecName;
  readonly packetsReceived: number;
  readonly packetsLost: number;
  /** Arrived after their time; they are among the received. */
  readonly packetsLate: number;
  readonly lossBursts: number;
  readonly jitterMs: number;
  /** Mean depth of the jitter buffer. */
  readonly bufferDelayMs: number;
  /** From RTCP; undefined when the peer sends none. */
  readonly roundTripMs: number | undefined;
}

/** One way through a carrier's network, where no round trip was measured: a country's width. */
const ASSUMED_NETWORK_DELAY_MS = 40;

/** Sums up a call, or as much of it as has passed. */
export function rateMedia(seen: MediaObservations): MediaQuality {
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
