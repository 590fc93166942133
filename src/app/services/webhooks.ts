import type { Logger } from 'pino';
import { liveAgent } from '../../agents/agents.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { rememberSession } from '../../engine/memory/rememberSession.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import { judgeSession } from '../../results/analysis/judgeSession.ts';
import { callReport } from '../../webhooks/callReport.ts';
import type { WebhookDelivery } from '../../webhooks/deliveryStore.ts';
import { createWebhookDispatcher } from '../../webhooks/dispatcher.ts';
import { createEventDispatcher } from '../../webhooks/eventDispatcher.ts';
import { createSigningSecrets } from '../../webhooks/signingSecrets.ts';
import { createWebhookAdmin, type WebhookAdmin } from '../../webhooks/webhookAdmin.ts';
import type { Worker } from '../../work/worker.ts';
import type { NodeContext } from '../node/node.ts';

/** How long a shutdown waits for webhook deliveries. */
const FINISH_MS = 5_000;

/** Webhooks, and the tasks after a session: judging it, and the customer's memory. */
export function buildWebhooks(
  node: NodeContext,
  models: ModelChoice,
  recordings: CallRecordings,
): {
  readonly dispatcher: Worker;
  readonly eventDispatcher: Worker;
  readonly webhookAdmin: WebhookAdmin;
} {
  const { storage, client, sandbox, liveEvents, tracer, clock, makeId, logger, onError } = node;
  const { webhookSent } = node.metrics.sessions;
  const { stores } = storage;
  const secrets = createSigningSecrets({ store: stores.webhookSecrets, clock });
  const dispatcher = createWebhookDispatcher({
    outbox: storage.outbox,
    releases: stores.releases,
    secrets,
    onSettled(delivery, { projectId, sessionId }) {
      webhookSent(delivery.event, delivery.error === null);
      if (delivery.error) logFailure(logger, { projectId, sessionId }, delivery);
    },
    tracer,
    client,
    clock,
    makeId,
    finishMs: FINISH_MS,
    async callReport(projectId, callId) {
      const call = await stores.calls.find(projectId, callId);
      return call && callReport(call, recordings);
    },
    updateCost: (instanceId) => stores.history.updateCost(instanceId),
    judge: ({ release: { agent }, ...session }, signal) =>
      judgeSession(
        { models, schemas: sandbox, history: stores.history, clock, onError },
        { ...session, agent },
        signal,
      ),
    remember: (session, signal) =>
      rememberSession({ models, memory: stores.memory, history: stores.history, onError }, session, signal),
    onError,
  });
  storage.outbox.events.on('finalized', ({ projectId, sessionId, callId, release, endReason, ...data }) =>
    liveEvents.publish({
      type: 'session.finalized',
      projectId,
      sessionId,
      callId,
      release,
      data: { ...data, reason: endReason },
    }),
  );
  const eventDispatcher = createEventDispatcher({
    queue: storage.eventQueue,
    async targetOf(projectId, { webhook, alertId }) {
      const target =
        webhook === 'alertWebhook'
          ? alertId !== null && (await stores.alerts.find(projectId, alertId))?.webhook
          : (await liveAgent(stores, projectId))?.[webhook];
      return target ? { url: target.url, headers: target.headers ?? [] } : undefined;
    },
    secrets,
    client,
    clock,
    finishMs: FINISH_MS,
    onAttempt(projectId, delivery, isGivenUp) {
      webhookSent(delivery.event, delivery.error === null);
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
