import type { Logger } from 'pino';

import type { Clock } from '../../base/clock.ts';
import type { MakeId } from '../../base/ids.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { createPostSessionTasks } from '../../engine/memory/postSessionTasks.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import type { GuardedHttpClient } from '../../infra/httpClient/client.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { SessionMetrics } from '../../observability/metrics/sessions.ts';
import { callReport } from '../../webhooks/callReport.ts';
import { WebhookDispatcher } from '../../webhooks/dispatcher.ts';
import { createSigningSecrets } from '../../webhooks/signingSecrets.ts';
import { createWebhookAdmin, type WebhookAdmin } from '../../webhooks/webhookAdmin.ts';

export interface WebhookParts {
  readonly storage: ReturnType<typeof createStorage>;
  readonly models: ModelChoice;
  readonly client: GuardedHttpClient;
  readonly recordings: CallRecordings;
  readonly metrics: Pick<SessionMetrics, 'webhookSent'>;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
}

/** How long a shutdown waits for webhook deliveries. */
const FINISH_MS = 5_000;

/** Webhooks, and the tasks after a session: evaluation and customer memory. */
export function buildWebhooks(parts: WebhookParts): {
  readonly dispatcher: WebhookDispatcher;
  readonly webhookAdmin: WebhookAdmin;
} {
  const { storage, models, client, recordings, clock, makeId, logger } = parts;
  const { stores } = storage;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const secrets = createSigningSecrets({ store: stores.webhookSecrets, clock });
  const postSession = createPostSessionTasks({ models, memory: stores.memory, onError });
  const dispatcher = new WebhookDispatcher({
    outbox: storage.outbox,
    releases: stores.releases,
    secrets,
    onSettled({ id, event, attempt, url, status, durationMs, error }, { projectId, sessionId }) {
      parts.metrics.webhookSent(event, error === null);
      if (error === null) return;
      // Of the URL only the host: the rest may hold a secret.
      const host = URL.canParse(url) ? new URL(url).host : null;
      const fields = { projectId, sessionId, event, deliveryId: id, attempt, host, status, durationMs };
      logger.warn({ ...fields, code: error.code, reason: error.message }, 'webhook failed');
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
  return { dispatcher, webhookAdmin: createWebhookAdmin({ deliveries: stores.webhookDeliveries, secrets }) };
}
