import { requireQuota } from '../../agents/accounts/quotas.ts';
import { dueDisclosures } from '../../agents/disclosures.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import { type Tracer, withSpan } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import { DAY_MS } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { ConversationEngine, PreparedSession } from '../../engine/conversationEngine.ts';
import { sessionStarted } from '../../engine/session/sessionEvents.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { WakeWork } from '../../work/work.ts';
import { type Call, newCall } from '../call.ts';
import { callEnded, callEvent } from '../callEvents.ts';
import type { CallLimiter, CallLimiterDeps } from '../limits/callLimiter.ts';
import type { CallingRulesOf } from '../numbers/doNotCall.ts';
import { requireNumber } from '../numbers/number.ts';
import type { PhoneNumber } from '../numbers/phoneNumber.ts';
import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import { candidateTrunks } from '../trunks/trunkSelection.ts';
import type { TrunkStore } from '../trunks/trunkStore.ts';
import { callingRefusal, refusedOrder } from './callingGate.ts';
import type { NumberLock } from './numberLock.ts';
import {
  type AcceptedCall,
  type InsertOnce,
  MAX_DAYS_AHEAD,
  type OrderStores,
  type OutboundOrder,
} from './outboundOrder.ts';

/** The most callbacks to one number a day. A person who is called more often complains. */
const CALLBACKS_PER_DAY = 3;
/** Calls of campaigns are dialed after all others of their project. @see Call.priority */
const CAMPAIGNS_PRIORITY = 1;

export interface OrderDeps {
  readonly phoneNumbers: PhoneNumberStore;
  readonly trunks: TrunkStore;
  readonly conversations: Pick<ConversationEngine, 'prepare'>;
  readonly limiter: CallLimiter;
  readonly callingRules: CallingRulesOf;
  /** Publishes live events; undefined when the service publishes none. */
  readonly liveEvents?: LiveEvents | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

export interface AcceptCallDeps extends OrderDeps, PlacementDeps {
  readonly limiter: CallLimiter & OrderDeps['limiter'];
  readonly metrics: CallLimiterDeps['metrics'];
  /** The reason for which this node takes no orders at the moment: it shuts down, or is overloaded. */
  readonly orderRefusal: () => CallwayError | undefined;
  readonly clock: Clock;
  readonly tracer: Tracer;
}

export interface PlacementDeps {
  readonly lock: NumberLock;
  readonly wakeDialers: WakeWork;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Accepts an outbound call: locks its number, stores call and session in one transaction, and queues the call; one that
 * is not due yet is only stored.
 *
 * A stored call is never lost: its row queues it, and a lock without a call expires.
 *
 * @throws {CallwayError} 400 `invalid_number`, `not_before_too_late`; 422 `destination_not_allowed`, `do_not_call`,
 *   `outside_calling_hours`; 404
 *   `from_number_not_configured`, `from_number_inactive`, `no_active_trunk`; 409 `number_already_queued`; 429
 *   `call_rate_exceeded`, `call_minutes_exhausted`, `call_spending_exhausted`, `quota_exceeded`; 503 `node_draining`,
 *   `node_overloaded`.
 */
export async function acceptCall(
  deps: AcceptCallDeps,
  order: OutboundOrder,
  insertOnce: InsertOnce,
): Promise<AcceptedCall> {
  // A call for later needs no capacity now.
  const isDue = dueTime(order.notBefore, deps.clock.now()) === null;
  const refusal = isDue ? deps.orderRefusal() : undefined;
  if (refusal) {
    deps.metrics.callRefused('node');
    throw refusal;
  }
  const span = deps.tracer.startSpan('accept call', {
    kind: 'producer',
    parent: order.traceparent,
    attributes: { 'callway.project.id': order.projectId },
  });
  return await withSpan(span, async () => {
    const prepared = await prepareCall(deps, { ...order, traceparent: span.traceparent });
    const accept = prepared.call.status === 'scheduled' ? scheduleCall : queueCall;
    return await accept(deps, prepared, insertOnce);
  });
}

/** A call with its session, neither of them stored. */
export interface PreparedCall extends Pick<PreparedSession, 'session' | 'started'> {
  /** `scheduled`, or `queued` where it is due. */
  readonly call: Call;
}

/**
 * Prepares the call of an order.
 *
 * @throws {CallwayError} 400 `invalid_number`, `not_before_too_late`; 404 `from_number_not_configured`,
 *   `from_number_inactive`, `no_active_trunk`; 422 `do_not_call`, `outside_calling_hours`; 429 `quota_exceeded`.
 */
export async function prepareCall(deps: OrderDeps, order: OutboundOrder): Promise<PreparedCall> {
  const { projectId, dynamicVariables, draft } = order;
  const fromNumber = requireNumber(order.fromNumber, 'fromNumber');
  const toNumber = requireNumber(order.toNumber, 'toNumber');
  const nowMs = deps.clock.now();
  const notBefore = dueTime(order.notBefore, nowMs);
  const from = await requireOutboundNumber(deps, projectId, fromNumber);
  const ordered = order.isCallback ? 'callback' : 'api';
  const planned = { projectId, toNumber, origin: order.campaign ? 'campaign' : ordered } as const;
  const refusal = await callingRefusal(
    deps.callingRules,
    planned,
    notBefore === null ? nowMs : Date.parse(notBefore),
  );
  if (refusal) throw refusedOrder(toNumber, refusal);
  const id = deps.makeId();
  const { session, started, agent } = await deps.conversations.prepare({
    projectId,
    sessionId: deps.makeId(),
    channel: 'phone',
    callId: id,
    customerNumber: toNumber,
    draft,
    variables: dynamicVariables ?? undefined,
  });
  const { sessionId, instanceId } = session;
  const record = order.record ?? from.record ?? agent.recording.outbound;
  const settings = settingsOf({ ...order, record }, from);
  const call = newCall({
    id,
    projectId,
    sessionId,
    instanceId,
    release: session.release,
    direction: 'outbound',
    status: notBefore === null ? 'queued' : 'scheduled',
    fromNumber: from.number,
    toNumber,
    settings,
    disclosures: settings.media ? [] : dueDisclosures(agent.disclosures, 'outbound'),
    metadata: order.metadata ?? {},
    externalId: order.externalId ?? null,
    ...order.campaign,
    priority: order.campaign ? CAMPAIGNS_PRIORITY : 0,
    createdAt: new Date(nowMs).toISOString(),
    notBefore,
  });
  return { call, session, started };
}

async function queueCall(
  deps: AcceptCallDeps,
  { call, session, started }: PreparedCall,
  insertOnce: InsertOnce,
): Promise<AcceptedCall> {
  const { id: callId, projectId, sessionId, toNumber } = call;
  if ((await deps.lock.acquire(projectId, toNumber, callId)) === undefined) throw alreadyQueued(toNumber);
  let accepted: AcceptedCall;
  try {
    await deps.limiter.admitOrder(projectId, toNumber, call.campaignId !== null);
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
  await announceQueued(deps, call);
  return accepted;
}

/**
 * Stores a call that is placed later. It holds no lock and no slot until then.
 *
 * @throws {CallwayError} 422 `destination_not_allowed`; 429 `quota_exceeded`, `callback_limit_exceeded`.
 */
export async function scheduleCall(
  { limiter, liveEvents }: OrderDeps,
  { call, session, started }: PreparedCall,
  insertOnce: InsertOnce,
): Promise<AcceptedCall> {
  const { id: callId, projectId, sessionId, toNumber, createdAt } = call;
  await limiter.requireAllowedDestination(projectId, toNumber);
  let replaced: readonly Call[] = [];
  const accepted = await insertOnce(async ({ calls, ...stores }) => {
    if (call.settings.isCallback) replaced = await calls.replaceCallbacks(projectId, toNumber, createdAt);
    await requireQuota(stores, projectId, 'scheduledCalls');
    if (call.settings.isCallback) await requireFewCallbacks(calls, call);
    await calls.insert(call, session, started);
    return { success: true, callId, sessionId };
  });
  for (const one of replaced) liveEvents?.publish(callEnded(one));
  if (accepted.callId === callId) liveEvents?.publish(sessionStarted(session, started));
  return accepted;
}

/**
 * Checks how often the number is called back, while the quota's lock holds up other callbacks.
 *
 * @throws {CallwayError} 429 `callback_limit_exceeded`
 */
async function requireFewCallbacks(
  calls: OrderStores['calls'],
  { projectId, toNumber, createdAt }: Call,
): Promise<void> {
  const dayStart = `${createdAt.slice(0, 10)}T00:00:00.000Z`;
  if ((await calls.countCallbacks(projectId, toNumber, dayStart)) < CALLBACKS_PER_DAY) return;
  const message = `${CALLBACKS_PER_DAY} callbacks to this number were scheduled today, the most for a UTC day`;
  throw new CallwayError('rate_limited', 'callback_limit_exceeded', message);
}

/** Announces a queued call that holds its number's lock. */
export async function announceQueued(
  { lock, wakeDialers, onError }: PlacementDeps,
  { id, projectId, toNumber }: Call,
): Promise<void> {
  await Promise.all([
    lock.renew(projectId, toNumber, id).catch((error: unknown) => {
      onError(error, 'number lock not renewed, the sweeper renews it');
    }),
    wakeDialers(id),
  ]);
}

export async function releaseLock({ lock, onError }: PlacementDeps, call: Call): Promise<void> {
  await lock.release(call.projectId, call.toNumber, call.id).catch((error: unknown) => {
    onError(error, 'number lock not released, it expires');
  });
}

/** @returns Null for a call that is due now. */
function dueTime(notBefore: string | null | undefined, nowMs: number): string | null {
  const dueMs = Date.parse(notBefore ?? '');
  if (!(dueMs > nowMs)) return null;
  if (dueMs - nowMs <= MAX_DAYS_AHEAD * DAY_MS) return new Date(dueMs).toISOString();
  const message = `notBefore must be at most ${MAX_DAYS_AHEAD} days ahead`;
  throw invalid('not_before_too_late', message, [{ path: '/notBefore', message }]);
}

async function requireOutboundNumber(
  { phoneNumbers, trunks }: OrderDeps,
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

function settingsOf(
  order: OutboundOrder & { readonly record: boolean },
  from: PhoneNumber,
): Call['settings'] {
  const { ringTimeoutSeconds, maxDurationSeconds, record, traceparent } = order;
  const { detectAnsweringMachine, dynamicVariables, isCallback } = order;
  return {
    ringTimeoutSeconds,
    maxDurationSeconds,
    record,
    media: order.media ?? from.media,
    noiseSuppression: from.noiseSuppression ?? undefined,
    detectAnsweringMachine,
    dynamicVariables: dynamicVariables ?? undefined,
    traceparent,
    isCallback,
    asGiven: { fromNumber: order.fromNumber, toNumber: order.toNumber },
  };
}

function missing(code: string, message: string): CallwayError {
  return new CallwayError('not_found', code, message);
}

export function alreadyQueued(toNumber: string): CallwayError {
  const message = `A call to ${toNumber} is queued or live already`;
  return new CallwayError('conflict', 'number_already_queued', message);
}
