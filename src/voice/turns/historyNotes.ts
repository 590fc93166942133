import type { Clock } from '../../base/clock.ts';
import { isUnavailable } from '../../base/errors.ts';
import type { HistoryEvent, HistoryEventType, SessionMessage } from '../../engine/session/session.ts';
import type { ExternalMessage } from '../../engine/turn/turn.ts';

/** What belongs to no turn of a call, on its way into the session's history. */
export interface HistoryNotes {
  add(type: HistoryEventType, data: Readonly<Record<string, unknown>>): void;
  /** What was said when no turn could take it any more. */
  addSaid(said: readonly ExternalMessage[]): void;
  /** The session's life is known; one that a turn has just made is known from the next turn on. */
  know(instanceId: string): void;
}

export interface HistoryNotesDeps {
  readonly addEvents: (instanceId: string, events: readonly HistoryEvent[]) => Promise<void>;
  readonly addMessages: (instanceId: string, messages: readonly SessionMessage[]) => Promise<void>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** While the database is away, it is asked again so often. */
const RETRY_MS = 1_000;

/** Writes a note into the history of this session. */
type Note = (instanceId: string) => Promise<void>;

export function createHistoryNotes(deps: HistoryNotesDeps): HistoryNotes {
  const { addEvents, addMessages, clock, onError } = deps;
  const waiting: Note[] = [];
  let known: string | undefined;
  let isKeeping = false;
  const keep = async () => {
    if (isKeeping) return;
    isKeeping = true;
    for (let note = waiting[0]; known !== undefined && note; note = waiting[0]) {
      try {
        await note(known);
      } catch (error) {
        onError(error, 'a note of a call was not kept');
        if (isUnavailable(error)) {
          await new Promise<void>((resolve) => clock.setTimer(resolve, RETRY_MS));
          continue;
        }
      }
      waiting.shift();
    }
    isKeeping = false;
  };
  return {
    add(type, data) {
      const event = { type, at: new Date(clock.now()).toISOString(), data };
      waiting.push((instanceId) => addEvents(instanceId, [event]));
      void keep();
    },
    addSaid(said) {
      const at = new Date(clock.now()).toISOString();
      const messages = said.map((message) => ({ ...message, at }));
      waiting.push((instanceId) => addMessages(instanceId, messages));
      void keep();
    },
    know(instanceId) {
      if (instanceId !== '') known = instanceId;
      void keep();
    },
  };
}
