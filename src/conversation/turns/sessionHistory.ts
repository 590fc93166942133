import { isNone, type UsageTally } from '../../agents/cost/usage.ts';
import { sleep } from '../../base/async/sleep.ts';
import { isUnavailable } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { HeardSpeech, HistoryStore } from '../../engine/history/historyStore.ts';
import type { HistoryEventType } from '../../engine/session/session.ts';
import type { ExternalMessage } from '../../engine/turn/turn.ts';

export interface SessionHistoryDeps {
  readonly historyStore: Pick<HistoryStore, 'addEvents' | 'addMessages' | 'addHeard' | 'addUsage'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}

/** Retry interval while the database is down. */
const RETRY_MS = 1_000;

type Write = (instanceId: string) => Promise<void>;

/** Writes what belongs to no turn into the session's history, in order, as soon as the session is known. */
export class SessionHistory {
  readonly #deps: SessionHistoryDeps;
  #resolveInstanceId: (instanceId: string) => void = () => undefined;
  readonly #instanceId = new Promise<string>((resolve) => {
    this.#resolveInstanceId = resolve;
  });
  #writes: Promise<void> = Promise.resolve();

  constructor(deps: SessionHistoryDeps) {
    this.#deps = deps;
  }

  addEvent(type: HistoryEventType, data: Readonly<Record<string, unknown>>): void {
    const event = { type, at: this.#now(), data };
    this.#add((instanceId) => this.#deps.historyStore.addEvents(instanceId, [event]));
  }

  /** Adds what was said after the last turn. */
  addMessages(said: readonly ExternalMessage[]): void {
    const at = this.#now();
    const messages = said.map(({ instruction: _, ...message }) => ({ ...message, at }));
    this.#add((instanceId) => this.#deps.historyStore.addMessages(instanceId, messages));
  }

  /** Adds what the session has heard, in this voice session, to what it tells at its end. */
  addHeard(heard: HeardSpeech): void {
    this.#add((instanceId) => this.#deps.historyStore.addHeard(instanceId, heard));
  }

  /** Adds what the session has used since its last turn was stored. */
  addUsage(tally: UsageTally): void {
    const used = tally.take();
    if (!isNone(used)) this.#add((instanceId) => this.#deps.historyStore.addUsage(instanceId, used));
  }

  /** @param instanceId - Empty for a session that its first turn is about to create. */
  onSession(instanceId: string): void {
    if (instanceId !== '') this.#resolveInstanceId(instanceId);
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  #add(write: Write): void {
    this.#writes = this.#writes.then(async () => this.#write(write, await this.#instanceId));
  }

  /** Retries while the database is down; a write that it rejects is dropped. */
  async #write(write: Write, instanceId: string): Promise<void> {
    const { clock, onError } = this.#deps;
    for (;;) {
      try {
        return await write(instanceId);
      } catch (error) {
        onError(error, 'session history write failed');
        if (!isUnavailable(error)) return;
        await sleep(clock, RETRY_MS);
      }
    }
  }
}
