import { type CodecName, FRAME_MS } from './codecs/codec.ts';

/** A call's media quality, as the API shows it. */
export interface MediaQuality {
  readonly codec: CodecName;
  readonly packetsReceived: number;
  /** The packets that were never played: lost, too late or shed. */
  readonly packetsLost: number;
  /** Received in time, and dropped to reduce the delay. */
  readonly shed: number;
  /** The duration of audio that replaced missing packets. */
  readonly concealedMs: number;
  /** Times that the jitter buffer ran empty during speech. */
  readonly underruns: number;
  readonly jitterMs: number;
  /** The jitter buffer's delay of the newest packet. */
  readonly jitterBufferMs: number;
  /** Mean opinion score, 1 to 4.5; undefined before the first packet. */
  readonly mos: number | undefined;
}

export interface MediaObservations extends Omit<MediaQuality, 'mos'> {
  /** The packets that were sent and never arrived. */
  readonly packetsLost: number;
  /** Received, but too late to be played. */
  readonly packetsLate: number;
  readonly lossBursts: number;
  /** Mean depth of the jitter buffer. */
  readonly bufferDelayMs: number;
  /** The round-trip time from RTCP; undefined when the peer sends none. */
  readonly roundTripMs: number | undefined;
}

export interface ConnectionConditions {
  readonly codec: CodecName;
  /** Mouth to ear, one way: network, jitter buffer, packets and codec. */
  readonly oneWayDelayMs: number;
  /** The share of lost packets after the jitter buffer, 0..1. */
  readonly lossRatio: number;
  /** Mean length of a run of lost packets; 1 when unknown. */
  readonly meanLossBurst: number;
}

interface CodecImpairment {
  /** The equipment impairment factor, Ie. */
  readonly equipment: number;
  /** Packet loss robustness factor, Bpl: the loss in percent that halves the rest of the rating. */
  readonly lossRobustness: number;
}

/**
 * G.711 with concealment has the values of ITU-T G.113 appendix I. The appendix has no narrowband values for the other
 * codecs; these follow published measurements. Wideband quality is not counted, so that no codec is below 0.
 */
const IMPAIRMENTS: Readonly<Record<CodecName, CodecImpairment>> = {
  PCMU: { equipment: 0, lossRobustness: 25.1 },
  PCMA: { equipment: 0, lossRobustness: 25.1 },
  L16: { equipment: 0, lossRobustness: 25.1 },
  G722: { equipment: 0, lossRobustness: 19 },
  opus: { equipment: 0, lossRobustness: 28 },
};

/** Rating with all other parameters at their defaults. @see ITU-T G.107 table 3 */
const BASE_RATING = 93.2;
/** A shorter delay does not impair a conversation. */
const FREE_DELAY_MS = 100;
/** The impairment at total loss. */
const MAX_EQUIPMENT_IMPAIRMENT = 95;
/** The assumed one-way delay of a carrier's network of a country's size, when the round trip was not measured. */
const ASSUMED_NETWORK_DELAY_MS = 40;

/** Rates a call's media so far. */
export function rateMedia(seen: MediaObservations): MediaQuality {
  const packetsLost = seen.packetsLost + seen.packetsLate + seen.shed;
  const expected = seen.packetsReceived + seen.packetsLost;
  const networkDelayMs = seen.roundTripMs === undefined ? ASSUMED_NETWORK_DELAY_MS : seen.roundTripMs / 2;
  const rating = ratingFactor({
    codec: seen.codec,
    oneWayDelayMs: networkDelayMs + seen.bufferDelayMs + FRAME_MS,
    lossRatio: expected === 0 ? 0 : packetsLost / expected,
    meanLossBurst: seen.lossBursts === 0 ? 1 : seen.packetsLost / seen.lossBursts,
  });
  return {
    codec: seen.codec,
    packetsReceived: seen.packetsReceived,
    packetsLost,
    shed: seen.shed,
    concealedMs: Math.round(seen.concealedMs),
    underruns: seen.underruns,
    jitterMs: seen.jitterMs,
    jitterBufferMs: Math.round(seen.jitterBufferMs),
    mos: seen.packetsReceived === 0 ? undefined : meanOpinionScore(rating),
  };
}

/**
 * Rates a connection by the E-model, with the default values for echo and noise.
 *
 * @returns R, 0 (useless) to 93.2 (perfect narrowband).
 * @see ITU-T G.107 sections 7.4 (delay) and 7.5 (equipment, loss)
 */
export function ratingFactor(conditions: ConnectionConditions): number {
  const { equipment, lossRobustness } = IMPAIRMENTS[conditions.codec];
  const lossPercent = 100 * Math.min(1, Math.max(0, conditions.lossRatio));
  const burstRatio = burstiness(conditions.meanLossBurst, conditions.lossRatio);
  const lossShare = lossPercent === 0 ? 0 : lossPercent / (lossPercent / burstRatio + lossRobustness);
  const effective = equipment + (MAX_EQUIPMENT_IMPAIRMENT - equipment) * lossShare;
  return Math.max(0, BASE_RATING - delayImpairment(conditions.oneWayDelayMs) - effective);
}

/**
 * Mean opinion score of listeners, from 1 (bad) to 4.5 (excellent).
 *
 * @see ITU-T G.107 annex B
 */
export function meanOpinionScore(rating: number): number {
  if (rating <= 0) return 1;
  if (rating >= 100) return 4.5;
  return Math.max(1, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6);
}

/** Mean burst relative to independent losses, at least 1. @see ITU-T G.107 section 7.5 (BurstR) */
function burstiness(meanLossBurst: number, lossRatio: number): number {
  return Math.max(1, meanLossBurst * (1 - Math.min(1, Math.max(0, lossRatio))));
}

function delayImpairment(delayMs: number): number {
  if (delayMs <= FREE_DELAY_MS) return 0;
  const x = Math.log2(delayMs / FREE_DELAY_MS);
  return 25 * ((1 + x ** 6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2);
}
