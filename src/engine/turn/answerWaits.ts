import type { LatencyDetails } from '../session/session.ts';

type WaitedFor = 'model' | 'tool';

interface Wait {
  readonly waitedFor: WaitedFor;
  readonly fromMs: number;
  /** Infinity while it lasts. */
  readonly toMs: number;
}

/** What a turn waits for before its first words, one thing at a time. Times are on the monotonic clock. */
export class AnswerWaits {
  readonly #ended: Wait[] = [];
  #current: Wait | undefined;

  /**
   * Begins a wait, which ends the current one. A model that is asked again has given no words: its earlier request is not
   * counted.
   *
   * @param waitedFor - What is waited for; undefined when the tools have ended.
   */
  begin(waitedFor: WaitedFor | undefined, nowMs: number): void {
    const isAskedAgain = this.#current?.waitedFor === 'model' && waitedFor === 'model';
    if (this.#current && !isAskedAgain) this.#ended.push({ ...this.#current, toMs: nowMs });
    this.#current = waitedFor && { waitedFor, fromMs: nowMs, toMs: Number.POSITIVE_INFINITY };
  }

  /** The shares of a period, in whole milliseconds. Undefined for what was not waited for. */
  within(fromMs: number, toMs: number): Pick<LatencyDetails, 'modelMs' | 'toolMs'> {
    const waits = this.#current ? [...this.#ended, this.#current] : this.#ended;
    const sumOf = (waitedFor: WaitedFor): number | undefined => {
      const chosen = waits.filter((wait) => wait.waitedFor === waitedFor && wait.fromMs <= toMs);
      if (chosen.length === 0) return undefined;
      const sumMs = chosen.reduce(
        (sum, wait) => sum + Math.max(0, Math.min(toMs, wait.toMs) - Math.max(fromMs, wait.fromMs)),
        0,
      );
      return Math.round(sumMs);
    };
    return { modelMs: sumOf('model'), toolMs: sumOf('tool') };
  }
}
