import type { Clock } from '../../base/clock.ts';
import {
  CHECKPOINT_INTERVAL_MS,
  type TurnCheckpoint,
  type TurnCheckpointStore,
} from '../../engine/session/interruptedTurn.ts';

export interface TurnNotingDeps {
  readonly notes: Pick<TurnCheckpointStore, 'put' | 'drop'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Leaves notes of the turn under way, for whoever goes on when this process dies. Nobody waits for it. */
export interface TurnCheckpoints {
  /** Time passes; the note is asked for when one is due. */
  tick(instanceId: string, note: () => TurnCheckpoint): void;
  /** The turn is kept, or is not to be: its note goes. */
  over(instanceId: string): void;
}

/** What could not be noted is not tried again before: Redis may be away. */
const AFTER_FAILURE_MS = 10_000;

export function createTurnCheckpoints({ notes, clock, onError }: TurnNotingDeps): TurnCheckpoints {
  let dueMs = Number.NEGATIVE_INFINITY;
  let isNoted = false;
  /** One after the other, so that a note never outlives its turn. */
  let written: Promise<void> = Promise.resolve();
  let waiting = 0;
  const write = (work: () => Promise<void>) => {
    waiting += 1;
    written = written
      .then(work)
      .catch((error: unknown) => {
        dueMs = clock.monotonicMs() + AFTER_FAILURE_MS;
        onError(error, 'a turn under way was not noted');
      })
      .finally(() => {
        waiting -= 1;
      });
  };
  return {
    tick(instanceId, note) {
      const nowMs = clock.monotonicMs();
      if (waiting > 0 || nowMs < dueMs) return;
      dueMs = nowMs + CHECKPOINT_INTERVAL_MS;
      isNoted = true;
      const noted = note();
      write(() => notes.put(instanceId, noted));
    },
    over(instanceId) {
      dueMs = Number.NEGATIVE_INFINITY;
      if (!isNoted) return;
      isNoted = false;
      write(() => notes.drop(instanceId));
    },
  };
}
