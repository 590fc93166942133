import type { Logger } from 'pino';

import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { Tracer } from '../base/tracing.ts';
import type { CallRecordings } from '../calls/recording/callRecordings.ts';
import { createPostSessionTasks } from '../engine/memory/postSessionTasks.ts';
import type { ModelChoice } from '../engine/turn/turnContext.ts';
import type { GuardedHttpClient } from '../infra/httpClient/client.ts';
import type { createStorage } from '../infra/postgres/storage.ts';
import type { SessionMetrics } from '../observability/metrics/sessions.ts';
import { callReport } from '../webhooks/callReport.ts';
import { createWebhookDispatcher, type WebhookDispatcher } from '../webhooks/dispatcher.ts';
import { createSigningSecrets } from '../webhooks/signingSecrets.ts';
import { createWebhookAdmin } from '../webhooks/webhookAdmin.ts';

export interface WebhookParts {
  readonly storage: ReturnType<typeof createStorage>;
  readonly models: ModelChoice;
  readonly client: GuardedHttpClient;
  readonly recordings: CallRecordings;
  readonly meter: Pick<SessionMetrics, 'webhookSent'>;
  readonly tracing: Tracer;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
}

/** Of what a stopping node's sessions tell; a receiver that answers at all does so within it. */
const FINISH_MS = 5_000;

/** What follows a session's end: its webhooks through the gate, its evaluation, and what is remembered of it. */
export function buildWebhooks(parts: WebhookParts): {
  readonly dispatcher: WebhookDispatcher;
  readonly webhookAdmin: ReturnType<typeof createWebhookAdmin>;
} {
  const { storage, models, client, recordings, clock, makeId, logger } = parts;
  const { stores } = storage;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const secrets = createSigningSecrets({ store: stores.webhookSecrets, clock });
  const afterwards = createPostSessionTasks({ models, memory: stores.memory, onError });
  const dispatcher = createWebhookDispatcher({
    outbox: storage.outbox,
    releases: stores.releases,
    secrets,
    onSent: parts.meter.webhookSent,
    tracing: parts.tracing,
    client,
    clock,
    makeId,
    finishMs: FINISH_MS,
    async callReport(projectId, callId) {
      const call = await stores.calls.find(projectId, callId);
      return call && callReport(call, recordings);
    },
    evaluate: afterwards.evaluate,
    remember: afterwards.remember,
    onError,
  });
  return { dispatcher, webhookAdmin: createWebhookAdmin({ deliveries: stores.webhookDeliveries, secrets }) };
}
