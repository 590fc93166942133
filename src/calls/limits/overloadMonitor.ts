import { repeat } from '../../base/async/repeat.ts';
import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/values/clock.ts';
import { nextLoad, ON_TIME, type PartLoad } from './overload.ts';

const SAMPLE_INTERVAL_MS = 1_000;

/** Measures how late a part of the node is. */
export interface DelayMeter {
  /** The part's name for logs and metrics, such as `main`. */
  readonly part: string;
  /** The part is overloaded above it. */
  readonly limitMs: number;
  /** Reads the delay since the last reading, in ms. For a part that does not answer, its silence counts as delay. */
  readMs(): Promise<number>;
}

/** A part became late, or is on time again. */
export interface LoadChange {
  readonly part: string;
  readonly isLate: boolean;
  readonly delayMs: number;
  readonly limitMs: number;
}

export interface OverloadMonitorDeps {
  readonly meters: readonly DelayMeter[];
  readonly clock: Clock;
  readonly onChange: (change: LoadChange) => void;
}

/** The last known load of a part. */
export interface PartDelay extends PartLoad {
  readonly delayMs: number;
}

/** Watches whether the parts of this node keep up, so that new calls are refused before those in progress suffer. */
export class OverloadMonitor {
  readonly #deps: OverloadMonitorDeps;
  readonly #parts = new Map<string, PartDelay>();
  #stop: () => Promise<void> = async () => undefined;

  constructor(deps: OverloadMonitorDeps) {
    this.#deps = deps;
    for (const { part } of deps.meters) this.#parts.set(part, { ...ON_TIME, delayMs: 0 });
  }

  /** Starts the measurement. Call it once the node accepts calls, since a starting node is always late. */
  start(): void {
    this.#stop = repeat(
      this.#deps.clock,
      SAMPLE_INTERVAL_MS,
      () => this.#sample(),
      // Meters do not reject.
      () => undefined,
    );
  }

  /** Returns the delays by part. */
  get parts(): ReadonlyMap<string, PartDelay> {
    return this.#parts;
  }

  get lateParts(): readonly string[] {
    return [...this.#parts].flatMap(([part, { isLate }]) => (isLate ? [part] : []));
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.#stop();
  }

  async #sample(): Promise<void> {
    await Promise.all(this.#deps.meters.map((meter) => this.#sampleOne(meter)));
  }

  async #sampleOne(meter: DelayMeter): Promise<void> {
    const { part, limitMs } = meter;
    const { clock, onChange } = this.#deps;
    const startedMs = clock.monotonicMs();
    let answeredMs: number | undefined;
    const reading = meter.readMs().then((delayMs) => {
      answeredMs = delayMs;
    });
    await withTimeout(clock, reading, SAMPLE_INTERVAL_MS);
    const delayMs = answeredMs ?? clock.monotonicMs() - startedMs;
    const before = this.#parts.get(part) ?? ON_TIME;
    const next = nextLoad(before, delayMs, limitMs);
    this.#parts.set(part, { ...next, delayMs });
    if (next.isLate !== before.isLate) onChange({ part, isLate: next.isLate, delayMs, limitMs });
  }
}
