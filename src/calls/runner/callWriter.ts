import { retryForever } from '../../base/async/retryForever.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { Call, CallChange } from '../call.ts';
import type { CallStore } from '../callStore.ts';

export interface CallWriterDeps {
  readonly nodeId: string;
  readonly calls: Pick<CallStore, 'update'>;
  readonly addEvents: (instanceId: string, events: readonly HistoryEvent[]) => Promise<void>;
  readonly clock: Clock;
}

/** Writes one call's changes in order, each until it succeeds. */
export class CallWriter {
  readonly #deps: CallWriterDeps;
  readonly #call: Call;
  readonly #onError: (error: unknown, what: string) => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: CallWriterDeps, call: Call, onError: (error: unknown, what: string) => void) {
    this.#deps = deps;
    this.#call = call;
    this.#onError = onError;
  }

  /** @returns The changed call; undefined when this node no longer runs it. */
  update(change: CallChange, event?: HistoryEvent): Promise<Call | undefined> {
    const { calls, nodeId } = this.#deps;
    return this.run(() => calls.update(this.#call.id, nodeId, change, event), 'call not updated, retrying');
  }

  addEvent(event: HistoryEvent): void {
    const { addEvents } = this.#deps;
    void this.run(() => addEvents(this.#call.instanceId, [event]), 'history event not stored, retrying');
  }

  /** Runs other work in the same order. @param failed - Log message for each failed attempt. */
  run<Result>(work: () => Promise<Result>, failed: string): Promise<Result> {
    const done = this.#last.then(() =>
      retryForever(this.#deps.clock, work, (error) => this.#onError(error, failed)),
    );
    this.#last = done;
    return done;
  }
}
