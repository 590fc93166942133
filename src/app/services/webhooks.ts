import type { Logger } from 'pino';
import { liveAgent } from '../../agents/release.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { createPostSessionTasks } from '../../engine/memory/postSessionTasks.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { GuardedHttpClient } from '../../http/client.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { SessionMetrics } from '../../observability/metrics/sessions.ts';
import { callReport } from '../../webhooks/callReport.ts';
import type { WebhookDelivery } from '../../webhooks/deliveryStore.ts';
import { WebhookDispatcher } from '../../webhooks/dispatcher.ts';
import { EventDispatcher } from '../../webhooks/eventDispatcher.ts';
import { createSigningSecrets } from '../../webhooks/signingSecrets.ts';
import { createWebhookAdmin, type WebhookAdmin } from '../../webhooks/webhookAdmin.ts';

export interface WebhookParts {
  readonly storage: ReturnType<typeof createStorage>;
  readonly models: ModelChoice;
  readonly client: GuardedHttpClient;
  readonly recordings: CallRecordings;
  readonly metrics: Pick<SessionMetrics, 'webhookSent'>;
  readonly tracer: Tracer;
  readonly liveEvents: LiveEvents;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
}

/** How long a shutdown waits for webhook deliveries. */
const FINISH_MS = 5_000;

/** Webhooks, and the tasks after a session: evaluation and customer memory. */
export function buildWebhooks(parts: WebhookParts): {
  readonly dispatcher: WebhookDispatcher;
  readonly eventDispatcher: EventDispatcher;
  readonly webhookAdmin: WebhookAdmin;
} {
  const { storage, models, client, recordings, liveEvents, clock, makeId, logger } = parts;
  const { stores } = storage;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const secrets = createSigningSecrets({ store: stores.webhookSecrets, clock });
  const postSession = createPostSessionTasks({ models, memory: stores.memory, onError });
  const dispatcher = new WebhookDispatcher({
    outbox: storage.outbox,
    releases: stores.releases,
    secrets,
    onSettled(delivery, { projectId, sessionId }) {
      parts.metrics.webhookSent(delivery.event, delivery.error === null);
      if (delivery.error) logFailure(logger, { projectId, sessionId }, delivery);
    },
    tracer: parts.tracer,
    client,
    clock,
    makeId,
    finishMs: FINISH_MS,
    async callReport(projectId, callId) {
      const call = await stores.calls.find(projectId, callId);
      return call && callReport(call, recordings);
    },
    evaluate: postSession.evaluate,
    remember: postSession.remember,
    onError,
  });
  storage.outbox.events.on('finalized', ({ projectId, sessionId, callId, endReason, ...data }) =>
    liveEvents.publish({
      type: 'session.finalized',
      projectId,
      sessionId,
      callId,
      data: { ...data, reason: endReason },
    }),
  );
  const eventDispatcher = new EventDispatcher({
    queue: storage.eventQueue,
    async targetOf(projectId, webhook) {
      const agent = await stores.agents.find(projectId);
      const target = agent && liveAgent(agent)[webhook];
      return target ? { url: target.url, headers: target.headers ?? [] } : undefined;
    },
    secrets,
    client,
    clock,
    finishMs: FINISH_MS,
    onAttempt(projectId, delivery, isGivenUp) {
      parts.metrics.webhookSent(delivery.event, delivery.error === null);
      if (isGivenUp) logFailure(logger, { projectId }, delivery);
    },
    onError,
  });
  const webhookAdmin = createWebhookAdmin({
    deliveries: stores.webhookDeliveries,
    queue: storage.eventQueue,
    clock,
    onQueued: () => eventDispatcher.wake(),
    secrets,
  });
  return { dispatcher, eventDispatcher, webhookAdmin };
}

function logFailure(
  logger: Logger,
  subject: { readonly projectId: string; readonly sessionId?: string },
  { id, event, attempt, url, status, durationMs, error }: WebhookDelivery,
): void {
  // Of the URL only the host: the rest may hold a secret.
  const host = URL.canParse(url) ? new URL(url).host : null;
  const fields = { ...subject, event, deliveryId: id, attempt, host, status, durationMs };
  logger.warn({ ...fields, code: error?.code, reason: error?.message }, 'webhook failed');
}
