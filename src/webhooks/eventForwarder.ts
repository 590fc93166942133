import { LRUCache } from 'lru-cache';
import { sleep } from '../base/async/sleep.ts';
import { isUnavailable } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import type { MakeId } from '../base/values/ids.ts';
import { type PublishedEvent, withEventId } from '../events/liveEvents.ts';
import type { EventQueueStore, NewQueuedEvent, RefusedEvents } from './eventQueue.ts';

/** The most events in memory while the database is unavailable; about 10 MB. */
const MAX_WAITING = 10_000;
/** Stored with one statement. */
const BATCH = 200;
/** The interval between two statements, which limits the load on the database. */
const PAUSE_MS = 100;
const RETRY_MS = 1_000;
const REFUSED_AGAIN_MS = 60_000;

export interface EventForwarderDeps {
  readonly queue: EventQueueStore;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Called at most once a minute for each project. */
  readonly onRefused: (refused: RefusedEvents) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** Brings published events into the queues of the webhooks that want them, a moment after they happened. */
export class EventForwarder {
  readonly #deps: EventForwarderDeps;
  /** When the log last said that a project's events are refused. */
  readonly #refusedAtMs = new LRUCache<string, number>({ max: 1_000 });
  readonly #waiting: NewQueuedEvent[] = [];
  #storing: Promise<void> | undefined;
  #isClosed = false;
  #isFull = false;

  constructor(deps: EventForwarderDeps) {
    this.#deps = deps;
  }

  add({ id, text, event }: PublishedEvent): void {
    const { projectId, sessionId = null, type } = event;
    if (this.#waiting.length >= MAX_WAITING) {
      if (!this.#isFull)
        this.#deps.onError(new Error('too many events wait'), 'events not queued for webhooks');
      this.#isFull = true;
      return;
    }
    this.#isFull = false;
    const [atMs = 0, number = 0] = id.split('-').map(Number);
    const deliveryId = this.#deps.makeId();
    const body = withEventId(id, text);
    const alertId =
      event.type === 'alert.firing' || event.type === 'alert.resolved' ? event.data.alertId : null;
    this.#waiting.push({ deliveryId, projectId, sessionId, type, alertId, place: { atMs, number }, body });
    this.#storing ??= this.#storeAll();
  }

  /** Stores what was added, if the database is there. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#storing;
  }

  async #storeAll(): Promise<void> {
    const { clock } = this.#deps;
    // What is added in this tick goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      const isStored = await this.#store(batch);
      if (isStored) this.#waiting.splice(0, batch.length);
      else if (this.#isClosed) break;
      const pauseMs = isStored ? PAUSE_MS : RETRY_MS;
      if (!this.#isClosed) await sleep(clock, pauseMs);
    }
    this.#storing = undefined;
  }

  /** @returns False where the events are to be stored later. */
  async #store(events: readonly NewQueuedEvent[]): Promise<boolean> {
    const { queue, clock, onError } = this.#deps;
    try {
      const refused = await queue.append(events, new Date(clock.now()));
      for (const one of refused) this.#refused(one);
      return true;
    } catch (error) {
      onError(error, 'events not queued for webhooks');
      return !isUnavailable(error);
    }
  }

  #refused(refused: RefusedEvents): void {
    const { clock, onRefused } = this.#deps;
    const nowMs = clock.monotonicMs();
    const saidAtMs = this.#refusedAtMs.get(refused.projectId);
    if (saidAtMs !== undefined && nowMs - saidAtMs < REFUSED_AGAIN_MS) return;
    this.#refusedAtMs.set(refused.projectId, nowMs);
    onRefused(refused);
  }
}
