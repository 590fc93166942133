import { sleep } from '../base/async/sleep.ts';
import { CallwayError } from '../base/errors.ts';
import { noopTracer, type Tracer } from '../base/tracing.ts';
import type { Clock } from '../base/values/clock.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { GuardedHttpClient } from '../http/client.ts';
import { withTraceparent } from '../http/headers.ts';
import type { CallReport } from './callReport.ts';
import { DELIVERY_TIMEOUT_MS, type DeliveryRequest, type DeliveryResult, deliver } from './delivery.ts';
import type { WebhookDelivery } from './deliveryStore.ts';
import { webhookBody } from './eventBody.ts';
import {
  claimSend,
  type DueEvent,
  failUnsent,
  releaseSend,
  SENDER_LEASE_MS,
  settleAttempt,
} from './outbox.ts';
import type { OutboxSession, OutboxStore } from './outboxStore.ts';
import type { SigningSecrets } from './signingSecrets.ts';

const STORE_RETRY_MS = 500;
/** A claim that takes longer must not be used: its sender might count as lost before the delivery ends. */
const MAX_CLAIM_MS = SENDER_LEASE_MS - 2 * DELIVERY_TIMEOUT_MS;

export interface SendDeps {
  readonly outbox: OutboxStore;
  readonly releases: ReleaseStore;
  readonly secrets: SigningSecrets;
  readonly client: GuardedHttpClient;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
  /** Called for each event that was sent, or failed. */
  readonly onSettled?: ((delivery: WebhookDelivery, session: OutboxSession) => void) | undefined;
  readonly callReport?: (projectId: string, callId: string) => Promise<CallReport | undefined>;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Sends the due event: builds its body, claims the event, sends it, and stores the result.
 *
 * @returns Whether the event is settled now; false when another node has it, or it is to be tried again later.
 * @throws When the database is away. The event is then due again after its lease.
 */
export async function sendEvent(
  deps: SendDeps,
  instanceId: string,
  due: DueEvent,
  signal: AbortSignal,
): Promise<boolean> {
  const { outbox, clock } = deps;
  const session = await outbox.session(instanceId);
  if (!session) return false;
  const prepared = await prepare(deps, due, session);
  const at = new Date(clock.now()).toISOString();
  if (prepared.error) {
    const failure = { ok: false, durationMs: 0, error: prepared.error };
    const record = recordOf({ ...due, attempt: due.attempt + 1 }, prepared, at, failure);
    await outbox.advance(instanceId, (now) => failUnsent(now, due, clock.now(), record));
    deps.onSettled?.(record, session);
    return true;
  }
  const requestedMs = clock.monotonicMs();
  const attempt = await outbox.advance(instanceId, (now) => claimSend(now, due.event, clock.now()));
  if (attempt === undefined) return false;
  const sent = { event: due.event, attempt };
  const isLate = clock.monotonicMs() - requestedMs > MAX_CLAIM_MS;
  const result = isLate ? undefined : await deliverTraced(deps, due, session, prepared);
  if (!result || (isStopped(result) && due.event !== 'session.finalized')) {
    await untilStored(deps, requestedMs, signal, () =>
      outbox.advance(instanceId, (now) => releaseSend(now, sent, clock.now())),
    );
    return false;
  }
  const record = recordOf({ ...due, attempt }, prepared, at, result);
  deps.onSettled?.(record, session);
  await untilStored(deps, requestedMs, signal, () =>
    outbox.advance(instanceId, (now) => settleAttempt(now, { ...sent, ok: result.ok }, clock.now(), record)),
  );
  return true;
}

/** Whether the service stopped; the event may have been sent or not. */
function isStopped({ error }: DeliveryResult): boolean {
  return error?.code === 'aborted';
}

type Prepared =
  | (DeliveryRequest & {
      readonly error?: undefined;
      readonly traceparent: string | undefined;
    })
  | (Pick<DeliveryRequest, 'target'> & {
      readonly body?: undefined;
      readonly error: { readonly code: string; readonly message: string };
    });

async function prepare(deps: SendDeps, due: DueEvent, session: OutboxSession): Promise<Prepared> {
  const { projectId, releaseId, callId } = session;
  const [release, secrets, report] = await Promise.all([
    deps.releases.find(projectId, releaseId),
    deps.secrets.signing(projectId),
    callId === null ? undefined : deps.callReport?.(projectId, callId),
  ]);
  const webhook = release?.agent.postSessionWebhook;
  const target = { url: webhook?.url ?? '', headers: webhook?.headers ?? [] };
  if (!webhook) {
    return { target, error: { code: 'webhook_target_missing', message: 'the agent has no webhook' } };
  }
  try {
    const body = webhookBody(due.event, due.deliveryId, session, report, deps.clock.now());
    return { target, deliveryId: due.deliveryId, body, secrets, traceparent: report?.traceparent };
  } catch (error) {
    if (error instanceof CallwayError) return { target, error };
    throw error;
  }
}

/** A child of the call's span, or for a chat the root of a new trace. */
async function deliverTraced(
  deps: SendDeps,
  { event, deliveryId }: DueEvent,
  { projectId, sessionId }: OutboxSession,
  request: DeliveryRequest & { readonly traceparent: string | undefined },
): Promise<DeliveryResult> {
  const span = (deps.tracer ?? noopTracer).startSpan(`webhook ${event}`, {
    kind: 'client',
    parent: request.traceparent,
    attributes: {
      'callway.project.id': projectId,
      'session.id': sessionId,
      'callway.webhook.delivery_id': deliveryId,
    },
  });
  const { target } = request;
  const headers = withTraceparent(target.headers, span.traceparent);
  const result = await deliver({ ...request, target: { ...target, headers } }, deps);
  span.setAttributes({ 'http.response.status_code': result.status });
  if (result.error) span.recordError(new CallwayError('internal', result.error.code, result.error.code));
  span.end();
  return result;
}

/** Returns the delivery record, without the target's headers, which may hold secrets. */
function recordOf(
  { event, deliveryId, attempt }: DueEvent,
  { target, body }: Prepared,
  at: string,
  { status, durationMs, error, answer }: DeliveryResult,
): WebhookDelivery {
  return {
    id: deliveryId,
    attempt,
    event,
    url: target.url,
    status: status ?? null,
    durationMs,
    error: error ? { code: error.code, message: error.message } : null,
    at,
    body: body ?? null,
    answer: answer ?? null,
  };
}

/** Retries while the database is away, so that a short outage neither repeats nor loses an event. */
async function untilStored(
  { clock, onError }: SendDeps,
  requestedMs: number,
  signal: AbortSignal,
  store: () => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await store();
      return;
    } catch (error) {
      const isAway = error instanceof CallwayError && error.category === 'unavailable';
      const isLate = clock.monotonicMs() - requestedMs > SENDER_LEASE_MS;
      if (!isAway || isLate || signal.aborted) throw error;
      if (attempt === 1) onError(error, 'result of a webhook not stored, retrying');
      await sleep(clock, STORE_RETRY_MS);
    }
  }
}
