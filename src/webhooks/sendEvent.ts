import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { CallwayError } from '../base/errors.ts';
import { noopTracer, type Tracer } from '../base/tracing.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { GuardedHttpClient } from '../infra/httpClient/client.ts';
import { withTraceparent } from '../infra/httpClient/headers.ts';
import { type DeliveryRequest, type DeliveryResult, deliver } from './delivery.ts';
import type { WebhookDelivery } from './deliveryStore.ts';
import { type CallReport, webhookBody } from './eventBody.ts';
import { type DueEvent, failUnsent, releaseSend, SENDER_LEASE_MS, settleAttempt } from './outbox.ts';
import type { OutboxSession, OutboxStore } from './outboxStore.ts';
import { createSendClaim, type SendClaimOutcome } from './sendClaim.ts';
import type { SigningSecrets } from './signingSecrets.ts';

const KEEP_AGAIN_MS = 500;

export interface SendDeps {
  readonly outbox: OutboxStore;
  readonly releases: Pick<ReleaseStore, 'find'>;
  readonly secrets: Pick<SigningSecrets, 'signing'>;
  readonly client: Pick<GuardedHttpClient, 'request'>;
  readonly clock: Clock;
  /** Absent where nobody traces. */
  readonly tracing?: Tracer | undefined;
  /** An event was sent, or could not be. */
  readonly onSent?: ((event: DueEvent['event'], ok: boolean) => void) | undefined;
  /** What is known of a session's call; absent where there are no calls. */
  readonly callReport?: (projectId: string, callId: string) => Promise<CallReport | undefined>;
}

/**
 * Sends the event whose turn it is: builds its body, sends it but for its last byte, asks for leave, sends that, and keeps
 * how it went.
 *
 * @returns Whether it is settled now; false where it is another node's, or is to be looked at again later.
 * @throws When the database is away. The event's lease then decides what becomes of it.
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
  const leave = createSendClaim(deps, instanceId, due.event);
  const result = prepared.error
    ? { ok: false, durationMs: 0, error: prepared.error }
    : await deliverTraced(deps, due, session, { ...prepared, beforeLastByte: leave.acquire });
  const outcome = await leave.outcome();
  if (outcome.type === 'refused') return false;
  if (outcome.type === 'unasked') {
    if (isOurs(result)) throw new Error('the service stopped before the event was sent');
    const record = recordOf({ ...due, attempt: due.attempt + 1 }, prepared, at, result);
    await outbox.advance(instanceId, (now) => failUnsent(now, due, clock.now(), record));
    deps.onSent?.(due.event, false);
    return true;
  }
  const { attempt, askedMs } = outcome;
  const begun = { event: due.event, attempt };
  if (isToComeAgain(outcome, result)) {
    await untilKept(deps, askedMs, signal, () =>
      outbox.advance(instanceId, (now) => releaseSend(now, begun, clock.now())),
    );
    return false;
  }
  deps.onSent?.(due.event, result.ok);
  const record = recordOf({ ...due, attempt }, prepared, at, result);
  await untilKept(deps, askedMs, signal, () =>
    outbox.advance(instanceId, (now) => settleAttempt(now, { ...begun, ok: result.ok }, clock.now(), record)),
  );
  return true;
}

/** It was the service's own doing that nothing was sent: leave was too slow in coming, or the service stopped. */
function isToComeAgain({ type }: SendClaimOutcome, result: DeliveryResult): boolean {
  return type === 'unused' && (isOurs(result) || result.error?.code === 'timeout');
}

function isOurs({ error }: DeliveryResult): boolean {
  return error?.code === 'aborted';
}

type Prepared =
  | (Omit<DeliveryRequest, 'beforeLastByte'> & {
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

/** The delivery of a call's event belongs to the call's trace, and one of a chat is a trace of its own. */
async function deliverTraced(
  deps: SendDeps,
  { event, deliveryId }: DueEvent,
  { projectId, sessionId }: OutboxSession,
  request: DeliveryRequest & { readonly traceparent: string | undefined },
): Promise<DeliveryResult> {
  const span = (deps.tracing ?? noopTracer).startSpan(`webhook ${event}`, {
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

/** The address's own secrets, in its headers, are no part of the record. */
function recordOf(
  { event, deliveryId, attempt }: DueEvent,
  { target, body }: Prepared,
  at: string,
  { status, durationMs, error }: DeliveryResult,
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
  };
}

/** What was sent must not be sent again, nor what was not be lost, only because the database was away for a moment. */
async function untilKept(
  { clock }: SendDeps,
  askedMs: number,
  signal: AbortSignal,
  keep: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await keep();
      return;
    } catch (error) {
      const isAway = error instanceof CallwayError && error.category === 'unavailable';
      const isLate = clock.monotonicMs() - askedMs > SENDER_LEASE_MS;
      if (!isAway || isLate || signal.aborted) throw error;
      await delay(KEEP_AGAIN_MS);
    }
  }
}
