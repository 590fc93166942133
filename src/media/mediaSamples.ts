import { type MediaObservations, rateMedia } from './mediaQuality.ts';

/** The quality of a stretch of a call's received audio. */
export interface MediaSample {
  /** The sample's end, in ms since the Unix epoch. */
  readonly atMs: number;
  readonly packetsReceived: number;
  /** The packets that were never played: lost, too late or shed. */
  readonly packetsLost: number;
  readonly jitterMs: number;
  /** Mean opinion score, 1 to 4.5; null when nothing was received. */
  readonly mos: number | null;
  /** The round-trip time from RTCP; null when the peer sends none. */
  readonly roundTripMs: number | null;
}

/** The samples of a call so far, one after the other. */
export interface MediaSamples {
  readonly intervalMs: number;
  readonly samples: readonly MediaSample[];
}

type Totals = Pick<
  MediaObservations,
  'packetsReceived' | 'packetsLost' | 'packetsLate' | 'shed' | 'lossBursts'
>;

/** Short enough to show a burst of loss, as long as most peers' RTCP interval. */
const SAMPLE_INTERVAL_MS = 5_000;
/** The most samples: one hour at the first interval. */
export const MAX_SAMPLES = 720;
const NOTHING: Totals = { packetsReceived: 0, packetsLost: 0, packetsLate: 0, shed: 0, lossBursts: 0 };

/** Samples a call's media figures, in its media thread. */
export class MediaSampler {
  #before: Totals = NOTHING;
  #dueMs: number | undefined;

  /**
   * @param nowMs - The time since the Unix epoch.
   * @param observe - Returns the call's observations since its start.
   * @returns Undefined while no sample is due.
   */
  tick(nowMs: number, observe: () => MediaObservations): MediaSample | undefined {
    this.#dueMs ??= nowMs + SAMPLE_INTERVAL_MS;
    if (nowMs < this.#dueMs) return undefined;
    this.#dueMs = nowMs + SAMPLE_INTERVAL_MS;
    const seen = observe();
    const sample = sampleBetween(this.#before, seen, nowMs);
    this.#before = seen;
    return sample;
  }
}

/** Collects a call's samples. A longer call has longer intervals, so that it takes no more room. */
export class MediaSeries {
  readonly #samples: MediaSample[] = [];
  /** The number of the sampler's intervals in each of ours. */
  #share = 1;
  #open: MediaSample | undefined;
  #inOpen = 0;

  get samples(): MediaSamples {
    return { intervalMs: this.#share * SAMPLE_INTERVAL_MS, samples: [...this.#samples] };
  }

  add(sample: MediaSample): void {
    this.#open = this.#open ? merged(this.#open, sample) : sample;
    this.#inOpen += 1;
    if (this.#inOpen < this.#share) return;
    this.#samples.push(this.#open);
    this.#open = undefined;
    this.#inOpen = 0;
    if (this.#samples.length < MAX_SAMPLES) return;
    this.#samples.splice(0, MAX_SAMPLES, ...mergedPairs(this.#samples));
    this.#share *= 2;
  }
}

function sampleBetween(before: Totals, seen: MediaObservations, atMs: number): MediaSample {
  // A packet that was counted as lost may have come after all.
  const since = (total: keyof Totals) => Math.max(0, seen[total] - before[total]);
  const { packetsReceived, packetsLost, jitterMs, mos } = rateMedia({
    ...seen,
    packetsReceived: since('packetsReceived'),
    packetsLost: since('packetsLost'),
    packetsLate: since('packetsLate'),
    shed: since('shed'),
    lossBursts: since('lossBursts'),
  });
  return {
    atMs: Math.round(atMs),
    packetsReceived,
    packetsLost,
    jitterMs: rounded(jitterMs, 10),
    mos: mos === undefined ? null : rounded(mos, 100),
    roundTripMs: seen.roundTripMs === undefined ? null : rounded(seen.roundTripMs, 10),
  };
}

function mergedPairs(samples: readonly MediaSample[]): MediaSample[] {
  return samples.flatMap((sample, index) => {
    const next = samples[index + 1];
    return index % 2 === 0 && next ? [merged(sample, next)] : [];
  });
}

/** Has the worse of both figures, so that a short fault stays visible. */
function merged(first: MediaSample, second: MediaSample): MediaSample {
  return {
    atMs: second.atMs,
    packetsReceived: first.packetsReceived + second.packetsReceived,
    packetsLost: first.packetsLost + second.packetsLost,
    jitterMs: Math.max(first.jitterMs, second.jitterMs),
    mos: ofKnown(Math.min, first.mos, second.mos),
    roundTripMs: ofKnown(Math.max, first.roundTripMs, second.roundTripMs),
  };
}

function ofKnown(choose: (a: number, b: number) => number, one: number | null, other: number | null) {
  if (one === null) return other;
  return other === null ? one : choose(one, other);
}

function rounded(value: number, factor: number): number {
  return Math.round(value * factor) / factor;
}
