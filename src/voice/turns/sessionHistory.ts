import type { Clock } from '../../base/clock.ts';
import { isUnavailable } from '../../base/errors.ts';
import type { HistoryEvent, HistoryEventType, SessionMessage } from '../../engine/session/session.ts';
import type { ExternalMessage } from '../../engine/turn/turn.ts';

export interface SessionHistoryDeps {
  readonly addEvents: (instanceId: string, events: readonly HistoryEvent[]) => Promise<void>;
  readonly addMessages: (instanceId: string, messages: readonly SessionMessage[]) => Promise<void>;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}

/** Retry interval while the database is down. */
const RETRY_MS = 1_000;

type Write = (instanceId: string) => Promise<void>;

/** Writes what belongs to no turn into the session's history, in order, as soon as the session is known. */
export class SessionHistory {
  readonly #deps: SessionHistoryDeps;
  readonly #queue: Write[] = [];
  #instanceId: string | undefined;
  #isWriting = false;

  constructor(deps: SessionHistoryDeps) {
    this.#deps = deps;
  }

  addEvent(type: HistoryEventType, data: Readonly<Record<string, unknown>>): void {
    const event = { type, at: this.#now(), data };
    this.#add((instanceId) => this.#deps.addEvents(instanceId, [event]));
  }

  /** Adds what was said after the last turn. */
  addMessages(said: readonly ExternalMessage[]): void {
    const at = this.#now();
    const messages = said.map((message) => ({ ...message, at }));
    this.#add((instanceId) => this.#deps.addMessages(instanceId, messages));
  }

  /** @param instanceId - Empty for a session that its first turn is about to create. */
  onSession(instanceId: string): void {
    if (instanceId !== '') this.#instanceId = instanceId;
    void this.#writeAll();
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  #add(write: Write): void {
    this.#queue.push(write);
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let write = this.#queue[0]; this.#instanceId !== undefined && write; write = this.#queue[0]) {
      try {
        await write(this.#instanceId);
      } catch (error) {
        this.#deps.onError(error, 'session history write failed');
        if (isUnavailable(error)) {
          await new Promise<void>((resolve) => this.#deps.clock.setTimer(resolve, RETRY_MS));
          continue;
        }
      }
      this.#queue.shift();
    }
    this.#isWriting = false;
  }
}
