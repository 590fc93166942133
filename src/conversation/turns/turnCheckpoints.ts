import type { Clock } from '../../base/values/clock.ts';
import {
  CHECKPOINT_INTERVAL_MS,
  type TurnCheckpoint,
  type TurnCheckpointStore,
} from '../../engine/session/interruptedTurn.ts';

export interface TurnCheckpointsDeps {
  readonly store: TurnCheckpointStore;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}

/** The pause in writing after a failed write, since the store may be down. */
const RETRY_AFTER_MS = 10_000;

/** Stores checkpoints of the running turn, with which another node recovers it when this one fails. Never blocks. */
export class TurnCheckpoints {
  readonly #deps: TurnCheckpointsDeps;
  #dueMs = Number.NEGATIVE_INFINITY;
  #hasCheckpoint = false;
  /** Serializes the writes, so that no checkpoint outlives its turn. */
  #writes: Promise<void> = Promise.resolve();
  #pendingWrites = 0;

  constructor(deps: TurnCheckpointsDeps) {
    this.#deps = deps;
  }

  /** Call with each frame. @param checkpoint - Called when a checkpoint is due. */
  onFrame(instanceId: string, checkpoint: () => TurnCheckpoint): void {
    const { store, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (this.#pendingWrites > 0 || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + CHECKPOINT_INTERVAL_MS;
    this.#hasCheckpoint = true;
    const taken = checkpoint();
    this.#write(() => store.put(instanceId, taken));
  }

  /** The turn was stored or cancelled: drops its checkpoint. */
  onTurnEnded(instanceId: string): void {
    this.#dueMs = Number.NEGATIVE_INFINITY;
    if (!this.#hasCheckpoint) return;
    this.#hasCheckpoint = false;
    this.#write(() => this.#deps.store.drop(instanceId));
  }

  #write(work: () => Promise<void>): void {
    const { clock, onError } = this.#deps;
    this.#pendingWrites += 1;
    this.#writes = this.#writes
      .then(work)
      .catch((error: unknown) => {
        this.#dueMs = clock.monotonicMs() + RETRY_AFTER_MS;
        onError(error, 'turn checkpoint write failed');
      })
      .finally(() => {
        this.#pendingWrites -= 1;
      });
  }
}
