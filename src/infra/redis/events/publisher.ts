import { randomInt } from 'node:crypto';

import type { Clock } from '../../../base/values/clock.ts';
import { INTERIM, type NewLiveEvent } from '../../../events/liveEvent.ts';
import { eventText, type LiveEvents, type PublishedEvent } from '../../../events/liveEvents.ts';
import type { EventLog } from './eventLog.ts';

/** The most events in memory while Redis is slow, about 5 MB. */
const MAX_WAITING = 5_000;

export interface LiveEventPublisherDeps {
  readonly log: EventLog;
  readonly clock: Clock;
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
  /** The number of events that were sent to Redis and not confirmed. */
  #waiting = 0;
  /** The answer to the last event, which follows the answers to those before it. */
  #lastAnswer: Promise<void> = Promise.resolve();
  /** True when the last event could not be sent, so that an outage is reported once. */
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
      if (this.#waiting < MAX_WAITING) this.#lastAnswer = this.#send(waiting, this.#lastAnswer);
      else this.#lose(waiting, new Error(`more than ${MAX_WAITING} events wait for Redis`));
    } catch (error) {
      onError(error, 'event not published');
    }
  }

  /** Waits for the events that were published before. Idempotent. */
  async close(): Promise<void> {
    await this.#lastAnswer;
  }

  /** Sends it now, and reports it once those before it are reported. */
  async #send(waiting: Waiting, before: Promise<void>): Promise<void> {
    const { log, onPublished } = this.#deps;
    const { event, at, text } = waiting;
    const { projectId, type } = event;
    this.#waiting += 1;
    const isKept = type !== INTERIM;
    const [answer] = await Promise.allSettled([
      isKept ? log.append(projectId, text) : log.announce(projectId, text),
      before,
    ]);
    this.#waiting -= 1;
    if (answer.status === 'rejected') this.#lose(waiting, answer.reason);
    else if (answer.value !== undefined) {
      this.#isFailing = false;
      onPublished?.({ id: answer.value, at, text, event });
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
