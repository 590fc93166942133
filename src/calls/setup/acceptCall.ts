import { z } from 'zod';

import type { Clock } from '../../base/clock.ts';
import { NUMBER_SYNTAX } from '../../base/e164.ts';
import { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/ids.ts';
import { type Tracer, withSpan } from '../../base/tracing.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import { sessionStarted } from '../../engine/session/sessionEvents.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import { type Call, DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS, newCall } from '../call.ts';
import { callEvent } from '../callEvents.ts';
import type { CallMetrics } from '../callMetrics.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import { requireNumber } from '../numbers/number.ts';
import { callMedia, type PhoneNumber } from '../numbers/phoneNumber.ts';
import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import { candidateTrunks } from '../trunks/trunkSelection.ts';
import type { TrunkStore } from '../trunks/trunkStore.ts';
import type { CallQueue } from './callQueue.ts';
import type { NumberLock } from './numberLock.ts';

/** Carriers give up earlier. @see RFC 3261 section 16.6 item 11 (timer C) */
const MAX_RING_TIMEOUT_SECONDS = 300;
const MAX_CALL_SECONDS = 24 * 3600;
const MAX_NUMBER_LENGTH = 64;

const number = z.string().max(MAX_NUMBER_LENGTH);

/** Body fields of an outbound call request, on the current and the legacy path. */
export const outboundCallFields = {
  fromNumber: number
    .describe('A number of the project whose outbound status is active.')
    .meta({ example: '+886223456789' }),
  toNumber: number.describe(`The number to call: ${NUMBER_SYNTAX}.`).meta({ example: '0912345678' }),
  dynamicVariables: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Variables of the call’s session, usable in the pathway.')
    .meta({ example: { name: 'Ada', guests: 2 } }),
  ringTimeoutSeconds: z.int().min(1).max(MAX_RING_TIMEOUT_SECONDS).default(DEFAULT_RING_TIMEOUT_SECONDS),
  maxDurationSeconds: z.int().min(1).max(MAX_CALL_SECONDS).default(DEFAULT_MAX_DURATION_SECONDS),
  record: z
    .boolean()
    .nullish()
    .describe('Default: as the number says, else the agent’s `recording.outbound`.'),
  media: callMedia.nullish().describe('Sends the audio to your own bot instead of to the agent.'),
  detectAnsweringMachine: z
    .boolean()
    .default(true)
    .describe('Tell a person from a machine or a call screener; the result is `answeringMachine`.'),
  metadata: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Returned with the call, in its webhooks, and to your own bot.'),
};

const orderSchema = z.object(outboundCallFields);

export interface OutboundOrder extends z.output<typeof orderSchema> {
  readonly projectId: string;
  /** Use the agent's draft instead of its current release. */
  readonly draft: boolean;
  /** Of the HTTP request. */
  readonly traceparent?: string | undefined;
}

export const acceptedCall = z.object({
  success: z.literal(true),
  callId: z.uuid(),
  sessionId: z.string(),
});
export type AcceptedCall = z.infer<typeof acceptedCall>;

/** Runs the insert in a transaction. For a repeated request it inserts nothing and returns the earlier answer. */
export type InsertOnce = (
  insert: (stores: { readonly calls: Pick<CallStore, 'insert'> }) => Promise<AcceptedCall>,
) => Promise<AcceptedCall>;

export interface AcceptCallDeps {
  readonly phoneNumbers: Pick<PhoneNumberStore, 'findByNumber'>;
  readonly trunks: Pick<TrunkStore, 'activeOf'>;
  readonly conversations: Pick<ConversationEngine, 'prepare'>;
  readonly limiter: Pick<CallLimiter, 'admitOrder'>;
  readonly lock: Pick<NumberLock, 'acquire' | 'renew' | 'release'>;
  readonly queue: Pick<CallQueue, 'add'>;
  readonly metrics: Pick<CallMetrics, 'callRefused'>;
  /** Absent where nobody is told. */
  readonly liveEvents?: LiveEvents | undefined;
  /** Why this node takes no orders at the moment: it shuts down, or is overloaded. */
  readonly orderRefusal: () => CallwayError | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracer: Tracer;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Accepts an outbound call: locks its number, stores call and session in one transaction, and queues the call.
 *
 * A stored call is never lost: the sweeper queues a call whose job is missing, and a lock without a call expires.
 *
 * @throws {CallwayError} 400 `invalid_number`; 422 `destination_not_allowed`; 404 `from_number_not_configured`,
 *   `from_number_inactive`, `no_active_trunk`; 409 `number_already_queued`; 429 `call_rate_exceeded`,
 *   `call_minutes_exhausted`, `call_spending_exhausted`; 503 `node_draining`, `node_overloaded`.
 */
export async function acceptCall(
  deps: AcceptCallDeps,
  order: OutboundOrder,
  insertOnce: InsertOnce,
): Promise<AcceptedCall> {
  const refusal = deps.orderRefusal();
  if (refusal) {
    deps.metrics.callRefused('node');
    throw refusal;
  }
  const span = deps.tracer.startSpan('accept call', {
    kind: 'producer',
    parent: order.traceparent,
    attributes: { 'callway.project.id': order.projectId },
  });
  return await withSpan(span, () => accept(deps, { ...order, traceparent: span.traceparent }, insertOnce));
}

async function accept(
  deps: AcceptCallDeps,
  order: OutboundOrder,
  insertOnce: InsertOnce,
): Promise<AcceptedCall> {
  const { projectId } = order;
  const fromNumber = requireNumber(order.fromNumber, 'fromNumber');
  const toNumber = requireNumber(order.toNumber, 'toNumber');
  const from = await requireOutboundNumber(deps, projectId, fromNumber);
  const callId = deps.makeId();
  const { session, started, recording } = await deps.conversations.prepare({
    projectId,
    sessionId: deps.makeId(),
    channel: 'phone',
    callId,
    draft: order.draft,
    ...(order.dynamicVariables ? { variables: order.dynamicVariables } : {}),
  });
  const { sessionId, instanceId } = session;
  const record = order.record ?? from.record ?? recording.outbound;
  const call = queuedCall(
    { ...order, record },
    from,
    { id: callId, sessionId, instanceId, toNumber },
    deps.clock,
  );

  if ((await deps.lock.acquire(projectId, toNumber, callId)) === undefined) throw alreadyQueued(toNumber);
  let accepted: AcceptedCall;
  try {
    await deps.limiter.admitOrder(projectId, toNumber);
    accepted = await insertOnce(async ({ calls }) => {
      await calls.insert(call, session, started);
      return { success: true, callId, sessionId };
    });
  } catch (error) {
    await releaseLock(deps, call);
    throw error;
  }
  if (accepted.callId !== callId) {
    await releaseLock(deps, call);
    return accepted;
  }
  deps.liveEvents?.publish(callEvent('call.queued', call));
  deps.liveEvents?.publish(sessionStarted(session, started));
  await enqueue(deps, call);
  return accepted;
}

/** A failure here only delays the call until the next sweep. */
async function enqueue({ lock, queue, onError }: AcceptCallDeps, call: Call): Promise<void> {
  const { id, projectId, toNumber } = call;
  await Promise.all([
    lock.renew(projectId, toNumber, id).catch((error: unknown) => {
      onError(error, 'number lock not renewed, the sweeper renews it');
    }),
    queue.add(id, projectId).catch((error: unknown) => {
      onError(error, 'accepted call not queued, the sweeper queues it');
    }),
  ]);
}

async function releaseLock({ lock, onError }: AcceptCallDeps, call: Call): Promise<void> {
  await lock.release(call.projectId, call.toNumber, call.id).catch((error: unknown) => {
    onError(error, 'number lock not released, it expires');
  });
}

async function requireOutboundNumber(
  { phoneNumbers, trunks }: AcceptCallDeps,
  projectId: string,
  fromNumber: string,
): Promise<PhoneNumber> {
  const found = await phoneNumbers.findByNumber(projectId, fromNumber);
  if (!found) {
    throw missing('from_number_not_configured', `fromNumber ${fromNumber} is no number of this project`);
  }
  if (found.outboundStatus !== 'active') {
    throw missing('from_number_inactive', `The outbound status of fromNumber ${fromNumber} is not active`);
  }
  if (candidateTrunks(found, await trunks.activeOf(projectId)).length === 0) {
    throw missing('no_active_trunk', `fromNumber ${fromNumber} has no active trunk`);
  }
  return found;
}

function queuedCall(
  order: OutboundOrder & { readonly record: boolean },
  from: PhoneNumber,
  ids: Pick<Call, 'id' | 'sessionId' | 'instanceId' | 'toNumber'>,
  clock: Clock,
): Call {
  const { projectId, ringTimeoutSeconds, maxDurationSeconds, record, traceparent } = order;
  const { detectAnsweringMachine, dynamicVariables } = order;
  return newCall({
    ...ids,
    projectId,
    direction: 'outbound',
    status: 'queued',
    fromNumber: from.number,
    settings: {
      ringTimeoutSeconds,
      maxDurationSeconds,
      record,
      media: order.media ?? from.media,
      ...(from.noiseSuppression === null ? {} : { noiseSuppression: from.noiseSuppression }),
      detectAnsweringMachine,
      ...(dynamicVariables ? { dynamicVariables } : {}),
      ...(traceparent === undefined ? {} : { traceparent }),
      asGiven: { fromNumber: order.fromNumber, toNumber: order.toNumber },
    },
    metadata: order.metadata ?? {},
    createdAt: new Date(clock.now()).toISOString(),
  });
}

function missing(code: string, message: string): CallwayError {
  return new CallwayError('not_found', code, message);
}

function alreadyQueued(toNumber: string): CallwayError {
  const message = `A call to ${toNumber} is queued or live already`;
  return new CallwayError('conflict', 'number_already_queued', message);
}
