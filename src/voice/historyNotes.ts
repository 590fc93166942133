import type { Clock } from '../base/clock.ts';
import { isUnavailable } from '../base/errors.ts';
import type { SessionEvent, SessionEventType } from '../conversation/session.ts';

/** Events of a call that belong to no turn, on their way into the session's history. */
export interface HistoryNotes {
  add(type: SessionEventType, data: Readonly<Record<string, unknown>>): void;
  /** The session's life is known; one that a turn has just made is known from the next turn on. */
  know(instanceId: string): void;
}

export interface HistoryNotesDeps {
  readonly addEvents: (instanceId: string, events: readonly SessionEvent[]) => Promise<void>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** While the database is away, it is asked again so often. */
const RETRY_MS = 1_000;

export function createHistoryNotes({ addEvents, clock, onError }: HistoryNotesDeps): HistoryNotes {
  const waiting: SessionEvent[] = [];
  let known: string | undefined;
  let isKeeping = false;
  const keep = async () => {
    if (isKeeping) return;
    isKeeping = true;
    while (known !== undefined && waiting.length > 0) {
      const events = [...waiting];
      try {
        await addEvents(known, events);
      } catch (error) {
        onError(error, 'an event was not kept');
        if (isUnavailable(error)) {
          await new Promise<void>((resolve) => clock.setTimer(resolve, RETRY_MS));
          continue;
        }
      }
      waiting.splice(0, events.length);
    }
    isKeeping = false;
  };
  return {
    add(type, data) {
      waiting.push({ type, at: new Date(clock.now()).toISOString(), data });
      void keep();
    },
    know(instanceId) {
      if (instanceId !== '') known = instanceId;
      void keep();
    },
  };
}
