import { retryForever } from '../../base/async/retryForever.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { Call, CallChange } from '../call.ts';
import type { NodeCalls } from '../nodes/nodeCalls.ts';

/** Writes one call's changes in order, each until it succeeds. */
export class CallWriter {
  readonly #calls: NodeCalls;
  readonly #clock: Clock;
  readonly #call: Call;
  readonly #onError: (error: unknown, what: string) => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(calls: NodeCalls, clock: Clock, call: Call, onError: (error: unknown, what: string) => void) {
    this.#calls = calls;
    this.#clock = clock;
    this.#call = call;
    this.#onError = onError;
  }

  /** @returns The changed call; undefined when this node no longer runs it. */
  update(change: CallChange, event?: HistoryEvent): Promise<Call | undefined> {
    return this.run(() => this.#calls.update(this.#call, change, event), 'call not updated, retrying');
  }

  addEvent(event: HistoryEvent): void {
    void this.run(() => this.#calls.addEvent(this.#call, event), 'history event not stored, retrying');
  }

  /** Runs other work in the same order. @param failed - Log message for each failed attempt. */
  run<Result>(work: () => Promise<Result>, failed: string): Promise<Result> {
    const done = this.#last.then(() =>
      retryForever(this.#clock, work, (error) => this.#onError(error, failed)),
    );
    this.#last = done;
    return done;
  }
}
