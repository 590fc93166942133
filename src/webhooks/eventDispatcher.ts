import { LRUCache } from 'lru-cache';

import type { Clock } from '../base/values/clock.ts';
import type { ClaimedWork } from '../work/work.ts';
import { CLAIM_LEASE_MS, Worker } from '../work/worker.ts';
import { type DeliveryDeps, type DeliveryResult, type DeliveryTarget, deliver, SHARES } from './delivery.ts';
import type { WebhookDelivery } from './deliveryStore.ts';
import { type EventQueueStore, type QueuedEvent, retryAtMs } from './eventQueue.ts';
import type { SigningSecrets } from './signingSecrets.ts';

/** A changed address counts this soon. */
const TARGET_CACHE_MS = 2_000;
const MAX_TARGETS = 1_000;
const NO_TARGET = { code: 'webhook_target_missing', message: 'the agent, or the alert, has no such webhook' };

export interface EventDispatcherDeps extends DeliveryDeps {
  readonly queue: EventQueueStore;
  /** Returns the target of this kind of webhook on the agent that callers get, or of the alert; undefined where it has none. */
  readonly targetOf: (projectId: string, event: QueuedEvent) => Promise<DeliveryTarget | undefined>;
  readonly secrets: SigningSecrets;
  readonly clock: Clock;
  readonly finishMs: number;
  /** Called for each attempt. @param isGivenUp - It has failed and is not repeated. */
  readonly onAttempt: (projectId: string, delivery: WebhookDelivery, isGivenUp: boolean) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** Sends queued events: those of a session one after the other, each until it is received or given up. */
export function createEventDispatcher(deps: EventDispatcherDeps): Worker {
  const sender = new EventSender(deps);
  return new Worker({
    ...SHARES,
    ...deps,
    name: 'events for webhooks',
    rows: deps.queue,
    run: (work, signal) => sender.run(work, signal),
  });
}

class EventSender {
  readonly #deps: EventDispatcherDeps;
  readonly #targets = new LRUCache<string, { target: DeliveryTarget | undefined; atMs: number }>({
    max: MAX_TARGETS,
  });

  constructor(deps: EventDispatcherDeps) {
    this.#deps = deps;
  }

  async run({ id, projectId }: ClaimedWork, signal: AbortSignal): Promise<undefined> {
    const { queue, clock, onAttempt } = this.#deps;
    while (!signal.aborted) {
      const now = clock.now();
      const event = await queue.next(id, new Date(now), new Date(now + CLAIM_LEASE_MS));
      if (!event) return undefined;
      const delivery = await this.#attempt(projectId, event);
      const nowMs = clock.now();
      const retryMs =
        delivery.error && event.webhook !== 'postSessionWebhook'
          ? retryAtMs(delivery.attempt, event.queuedAtMs, nowMs)
          : undefined;
      const retryAt = retryMs === undefined ? null : new Date(retryMs);
      if (!(await queue.settle(id, delivery, retryAt))) return undefined;
      onAttempt(projectId, delivery, delivery.error !== null && retryAt === null);
      if (retryAt) return undefined;
    }
    await queue.release(id, new Date(clock.now()));
    return undefined;
  }

  async #attempt(projectId: string, event: QueuedEvent): Promise<WebhookDelivery> {
    const { clock, secrets } = this.#deps;
    const { deliveryId, type, body, attempt } = event;
    const target = await this.#targetOf(projectId, event);
    const at = new Date(clock.now()).toISOString();
    const signing = await secrets.signing(projectId);
    const request = { deliveryId, body, secrets: signing };
    const result: DeliveryResult = target
      ? await deliver({ ...request, target }, this.#deps)
      : { ok: false, durationMs: 0, error: NO_TARGET };
    const { status = null, durationMs, error, answer = null } = result;
    return {
      id: deliveryId,
      attempt: attempt + 1,
      event: type,
      url: target?.url ?? '',
      status,
      durationMs,
      error: error ? { code: error.code, message: error.message } : null,
      at,
      body,
      answer,
    };
  }

  async #targetOf(projectId: string, event: QueuedEvent): Promise<DeliveryTarget | undefined> {
    const key = event.alertId ?? `${projectId} ${event.webhook}`;
    const nowMs = this.#deps.clock.monotonicMs();
    const known = this.#targets.get(key);
    if (known && nowMs - known.atMs < TARGET_CACHE_MS) return known.target;
    const target = await this.#deps.targetOf(projectId, event);
    this.#targets.set(key, { target, atMs: nowMs });
    return target;
  }
}
