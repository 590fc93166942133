import { randomInt } from 'node:crypto';

import type { Clock } from '../../../base/clock.ts';
import { INTERIM, type NewLiveEvent } from '../../../events/liveEvent.ts';
import { eventText, type LiveEvents, type PublishedEvent } from '../../../events/liveEvents.ts';
import type { EventLog } from './eventLog.ts';

/** In memory, while Redis is slow; about 5 MB. */
const MAX_WAITING = 5_000;
/** Sent to Redis at once. */
const BATCH = 100;

export interface LiveEventPublisherDeps {
  readonly log: Pick<EventLog, 'append' | 'announce'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Takes every event but interim ones once it has its id, also where Redis could not take it. Must not throw. */
  readonly onPublished?: ((event: PublishedEvent) => void) | undefined;
  readonly onError: (error: unknown, what: string) => void;
}

interface Waiting {
  readonly event: NewLiveEvent;
  readonly at: string;
  readonly text: string;
}

/**
 * Publishes events into Redis, in order. While Redis is away they are lost to streams; those who publish do not notice.
 */
export class LiveEventPublisher implements LiveEvents {
  readonly #deps: LiveEventPublisherDeps;
  readonly #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;
  /** Whether the last event could not be sent: an outage is reported once. */
  #isFailing = false;
  /** Counts the events that Redis did not take; begins anywhere, since other threads count too. */
  #lost = randomInt(2 ** 31);

  constructor(deps: LiveEventPublisherDeps) {
    this.#deps = deps;
  }

  publish(event: NewLiveEvent): void {
    const { clock, onError } = this.#deps;
    try {
      const at = new Date(clock.now()).toISOString();
      const waiting = { event, at, text: eventText(event, at) };
      if (this.#waiting.length < MAX_WAITING) {
        this.#waiting.push(waiting);
        this.#sending ??= this.#sendAll();
      } else this.#lose(waiting, new Error(`more than ${MAX_WAITING} events wait for Redis`));
    } catch (error) {
      onError(error, 'event not published');
    }
  }

  /** Waits for the events that were published before. Idempotent. */
  async close(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    // What is published in this tick goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      await Promise.all(this.#waiting.splice(0, BATCH).map((waiting) => this.#send(waiting)));
    }
    this.#sending = undefined;
  }

  async #send(waiting: Waiting): Promise<void> {
    const { log, onPublished } = this.#deps;
    const { event, at, text } = waiting;
    const { projectId, type } = event;
    try {
      if (type === INTERIM) return await log.announce(projectId, text);
      const id = await log.append(projectId, text);
      this.#isFailing = false;
      onPublished?.({ id, at, text, event });
    } catch (error) {
      this.#lose(waiting, error);
    }
  }

  /** Streams do not have the event; others get it with an id of the same form. */
  #lose({ event, at, text }: Waiting, error: unknown): void {
    const { clock, onPublished, onError } = this.#deps;
    if (!this.#isFailing) onError(error, 'live events not published until Redis is back');
    this.#isFailing = true;
    this.#lost += 1;
    if (event.type !== INTERIM) onPublished?.({ id: `${clock.now()}-${this.#lost}`, at, text, event });
  }
}
