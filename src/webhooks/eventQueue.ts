import type { DueWork } from '../work/work.ts';
import type { DeliveredEvent, WebhookDelivery, WebhookKind } from './deliveryStore.ts';

/**
 * An event is sent this long after it was queued, so that those before it are there too: the threads and nodes of a session
 * store theirs side by side, each some tenths of a second after they happened.
 */
export const SETTLING_MS = 500;
/** An event waits for its receiver for so long. */
const RETRY_FOR_MS = 3_600_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 600_000;

/** An event that an agent may want. */
export interface NewQueuedEvent {
  /** The header `webhook-id`. */
  readonly deliveryId: string;
  readonly projectId: string;
  readonly sessionId: string | null;
  readonly type: DeliveredEvent;
  /** The alert that it tells of, whose webhook gets it too. */
  readonly alertId: string | null;
  /** Place among the events of its session. @see PublishedEvent.id */
  readonly place: { readonly atMs: number; readonly number: number };
  /** JSON, as sent. */
  readonly body: string;
}

/** An event whose turn it is. */
export interface QueuedEvent extends Omit<NewQueuedEvent, 'projectId' | 'place'> {
  readonly webhook: WebhookKind;
  /** The number of earlier attempts. */
  readonly attempt: number;
  readonly queuedAtMs: number;
}

/** Events that were not queued, since too many of their project wait. */
export interface RefusedEvents {
  readonly projectId: string;
  readonly count: number;
}

/** The events that wait for the receivers of projects, in a queue for each session; any node may work on any queue. */
export interface EventQueueStore extends DueWork {
  /** Queues those that the agents of their projects want, and those of alerts with a webhook. They are due {@link SETTLING_MS} later. */
  append(events: readonly NewQueuedEvent[], now: Date): Promise<readonly RefusedEvents[]>;
  /** @returns The first event of a queue, which no other node gets before `until`; undefined where none is due. */
  next(queueId: string, now: Date, until: Date): Promise<QueuedEvent | undefined>;
  /**
   * Logs an attempt, and removes its event unless it is to be repeated.
   *
   * @param retryAt - The time of the next attempt; null when there is none.
   * @returns False when another node has made this attempt.
   */
  settle(queueId: string, delivery: WebhookDelivery, retryAt: Date | null): Promise<boolean>;
  /** Another node need not wait. */
  release(queueId: string, now: Date): Promise<void>;
  /**
   * Queues a logged delivery once more, under its id; one that still waits is due at once.
   *
   * @returns `queued`; undefined for an unknown delivery; `without_body` where its body was not kept.
   */
  repeat(projectId: string, deliveryId: string, now: Date): Promise<'queued' | 'without_body' | undefined>;
}

/**
 * Returns when a failed delivery is repeated: after 5 s, 10 s, 20 s and so on up to ten minutes, and a last time an
 * hour after the event was queued. An event that has waited an hour for those before it is sent once.
 *
 * @param attempt - Number of the failed one, from 1.
 * @returns The time of the next attempt; undefined when the event is given up.
 */
export function retryAtMs(attempt: number, queuedAtMs: number, nowMs: number): number | undefined {
  const lastMs = queuedAtMs + RETRY_FOR_MS;
  if (nowMs >= lastMs) return undefined;
  return Math.min(nowMs + Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS), lastMs);
}
