/**
 * G.711 with concealment as in ITU-T G.113 appendix I. That appendix has no narrowband figures for the other codecs;
 * these are placed by what is published of them: better speech than G.711 is not counted, so none costs less than 0.
 */
const IMPAIRMENTS = {
  PCMU: { equipment: 0, lossRobustness: 25.1 },
  PCMA: { equipment: 0, lossRobustness: 25.1 },
  L16: { equipment: 0, lossRobustness: 25.1 },
  G722: { equipment: 0, lossRobustness: 19 },
  opus: { equipment: 0, lossRobustness: 28 },
};
/** Rating of a connection with all other parameters at their defaults. @see ITU-T G.107 table 3 */
const BASE_RATING = 93.2;
/** Delay up to here does not disturb a conversation. */
const FREE_DELAY_MS = 100;
/** Where the loss is total. */
const MAX_EQUIPMENT_IMPAIRMENT = 95;
/**
 * Rates a connection by the E-model, simplified: no echo, no noise but what the defaults have.
 *
 * @returns R, 0 (useless) to 93.2 (perfect narrowband).
 * @see ITU-T G.107 sections 7.4 (delay) and 7.5 (equipment, loss)
 */
export function ratingFactor(conditions) {
  const { equipment, lossRobustness } = IMPAIRMENTS[conditions.codec];
  const lossPercent = 100 * Math.min(1, Math.max(0, conditions.lossRatio));
  const burstRatio = burstiness(conditions.meanLossBurst, conditions.lossRatio);
  const lossShare = lossPercent === 0 ? 0 : lossPercent / (lossPercent / burstRatio + lossRobustness);
  const effective = equipment + (MAX_EQUIPMENT_IMPAIRMENT - equipment) * lossShare;
  return Math.max(0, BASE_RATING - delayImpairment(conditions.oneWayDelayMs) - effective);
}
/**
 * Estimates what listeners would say on the average, from 1 (bad) to 4.5 (excellent).
 *
 * @see ITU-T G.107 annex B
 */
export function meanOpinionScore(rating) {
  if (rating <= 0) return 1;
  if (rating >= 100) return 4.5;
  return Math.max(1, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6);
}
/** Mean burst over what independent losses would have; never below 1. @see ITU-T G.107 section 7.5 (BurstR) */
function burstiness(meanLossBurst, lossRatio) {
  return Math.max(1, meanLossBurst * (1 - Math.min(1, Math.max(0, lossRatio))));
}
function delayImpairment(delayMs) {
  if (delayMs <= FREE_DELAY_MS) return 0;
  const x = Math.log2(delayMs / FREE_DELAY_MS);
  return 25 * ((1 + x ** 6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2);
}
