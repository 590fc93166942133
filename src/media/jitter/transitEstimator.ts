/** The fastest transit is the minimum of the last four epochs. */
const EPOCH_MS = 500;
const EPOCHS = 4;
const BUCKET_MS = 5;
const BUCKETS = 200;
/** Weight of the newest packet: half of the histogram's weight is from the last seven seconds. */
const NEWEST_WEIGHT = 0.002;
/** Packets that the prior counts as. */
const PRIOR_PACKETS = 2;
/** Share of packets that arrive in time. Most of the others are still played, by stretching. */
const IN_TIME_SHARE = 0.98;
/**
 * Most weight of the packets that one hiccup delays beyond the others: less than the share that may be late, so that one
 * is forgotten and a second one soon after it is not.
 */
const MAX_HICCUP_SHARE = 0.015;
/** Buckets below this share are emptied. */
const NEGLIGIBLE_SHARE = 1e-6;
/** Packets in a row that are late by the same time: the route has become longer. */
const ROUTE_PACKETS = 10;
/** A smaller step is followed like a sender's clock. */
const MIN_ROUTE_STEP_MS = 40;
/** A larger step is not jitter: the sender's clock was set, or its stream replaced. */
const MAX_STEP_MS = 2000;

/**
 * Estimates how much later than the fastest packets the others arrive. A transit is arrival minus media time, so that it
 * drifts with the sender's clock; the fastest one is of the last two seconds and drifts along.
 */
export class TransitEstimator {
  readonly #priorMs: number;
  readonly #epochMinima: number[] = [];
  readonly #histogram = new Float64Array(BUCKETS);
  /** The bucket above which all are empty. */
  #highestBucket = 0;
  #epochStartMs = 0;
  #fastestMs = 0;
  #packets = 0;
  #lastTransitMs: number | undefined;
  #lastArrivalMs = Number.NEGATIVE_INFINITY;
  /** Weight so far of the hiccup that the newest packet belongs to. */
  #hiccupShare = 0;
  #steadyPackets = 0;
  #delayMs: number;

  /** @param priorMs - The delay before the first packet. */
  constructor(priorMs: number) {
    this.#priorMs = priorMs;
    this.#delayMs = priorMs;
    this.reset();
  }

  /** @returns True when the transit time jumped, which resets the estimate. */
  observe(transitMs: number, nowMs: number): boolean {
    const last = this.#lastTransitMs;
    const jumped = last !== undefined && Math.abs(transitMs - last) > MAX_STEP_MS;
    if (jumped) this.reset();
    this.#lastTransitMs = transitMs;
    this.#updateFastest(transitMs, nowMs);
    const riseMs = transitMs - (last ?? transitMs);
    const laterMs = transitMs - this.#fastestMs;
    // Packets that were held up by one hiccup come with the first one, or no later than it.
    const isTogether = nowMs - this.#lastArrivalMs < BUCKET_MS;
    if (!isTogether && (riseMs > BUCKET_MS || laterMs <= this.#delayMs)) this.#hiccupShare = 0;
    this.#lastArrivalMs = nowMs;
    this.#weigh(laterMs);
    this.#followRoute(transitMs, Math.abs(riseMs) <= BUCKET_MS);
    return jumped;
  }

  /** Transit of the fastest recent packets. */
  get fastestMs(): number {
    return this.#fastestMs;
  }

  /** The delay compared with the fastest packet that nearly all packets stay within. */
  get delayMs(): number {
    return this.#delayMs;
  }

  reset(): void {
    this.#epochMinima.length = 0;
    this.#histogram.fill(0);
    this.#highestBucket = bucketOf(this.#priorMs);
    this.#histogram[this.#highestBucket] = 1;
    this.#packets = PRIOR_PACKETS;
    this.#lastTransitMs = undefined;
    this.#delayMs = this.#priorMs;
  }

  #updateFastest(transitMs: number, nowMs: number): void {
    const minima = this.#epochMinima;
    if (minima.length === 0 || nowMs - this.#epochStartMs >= EPOCH_MS) {
      if (minima.length === EPOCHS) minima.shift();
      minima.push(transitMs);
      this.#epochStartMs = nowMs;
    }
    minima[minima.length - 1] = Math.min(transitMs, minima.at(-1) ?? transitMs);
    this.#fastestMs = Math.min(...minima);
  }

  /** The sender has paused, or the route is longer now: all packets are late by the same time. */
  #followRoute(transitMs: number, isSteady: boolean): void {
    const isLonger = transitMs - this.#fastestMs > this.#delayMs + MIN_ROUTE_STEP_MS;
    this.#steadyPackets = isSteady && isLonger ? this.#steadyPackets + 1 : 0;
    if (this.#steadyPackets < ROUTE_PACKETS) return;
    this.#steadyPackets = 0;
    this.#epochMinima.length = 0;
    this.#fastestMs = transitMs;
  }

  #weigh(laterMs: number): void {
    let weight = Math.max(NEWEST_WEIGHT, 1 / (this.#packets + 1));
    this.#packets++;
    if (laterMs > this.#delayMs) {
      weight = Math.min(weight, MAX_HICCUP_SHARE - this.#hiccupShare);
      this.#hiccupShare += weight;
    }
    const histogram = this.#histogram;
    const bucket = bucketOf(laterMs);
    this.#highestBucket = Math.max(this.#highestBucket, bucket);
    let left = 1 - IN_TIME_SHARE;
    let quantile = 0;
    for (let n = this.#highestBucket; n >= 0; n--) {
      const share = (histogram[n] ?? 0) * (1 - weight) + (n === bucket ? weight : 0);
      histogram[n] = share;
      left -= share;
      if (left < 0 && quantile === 0) quantile = n + 1;
    }
    this.#delayMs = quantile * BUCKET_MS;
    this.#forgetNegligible();
  }

  #forgetNegligible(): void {
    const histogram = this.#histogram;
    while (this.#highestBucket > 0 && (histogram[this.#highestBucket] ?? 0) < NEGLIGIBLE_SHARE) {
      histogram[this.#highestBucket] = 0;
      this.#highestBucket--;
    }
  }
}

function bucketOf(laterMs: number): number {
  return Math.min(BUCKETS - 1, Math.max(0, Math.floor(laterMs / BUCKET_MS)));
}
