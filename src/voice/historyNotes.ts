import type { Clock } from '../base/clock.ts';
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

export function createHistoryNotes({ addEvents, clock, onError }: HistoryNotesDeps): HistoryNotes {
  const waiting: SessionEvent[] = [];
  let known: string | undefined;
  const keep = () => {
    if (known === undefined || waiting.length === 0) return;
    addEvents(known, waiting.splice(0)).catch((error: unknown) => onError(error, 'an event was not kept'));
  };
  return {
    add(type, data) {
      waiting.push({ type, at: new Date(clock.now()).toISOString(), data });
      keep();
    },
    know(instanceId) {
      if (instanceId !== '') known = instanceId;
      keep();
    },
  };
}
