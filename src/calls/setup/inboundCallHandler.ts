import type { Clock } from '../../base/clock.ts';
import type { MakeId } from '../../base/ids.ts';
import { retryForever } from '../../base/retryForever.ts';
import { type Tracer, withSpan } from '../../base/tracing.ts';
import type { ConversationEngine, PreparedSession } from '../../engine/conversationEngine.ts';
import { type Call, DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS } from '../call.ts';
import type { CallMetrics } from '../callMetrics.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { NodeCapacity } from '../limits/nodeCapacity.ts';
import type { PhoneNumber } from '../numbers/phoneNumber.ts';
import type { CallEnd } from '../runner/callFinisher.ts';
import type { CallRunner } from '../runner/callRunner.ts';
import type { InboundCall } from '../telephony.ts';
import type { TrunkSlots } from '../trunks/trunkSlots.ts';

export interface InboundCallDeps {
  readonly nodeId: string;
  readonly calls: Pick<CallStore, 'insert'>;
  readonly conversations: Pick<ConversationEngine, 'prepare'>;
  readonly slots: Pick<TrunkSlots, 'acquire' | 'release'>;
  readonly guard: Pick<CallLimiter, 'startCall' | 'endCall'>;
  readonly admission: Pick<NodeCapacity, 'acquire' | 'release'>;
  readonly meter: Pick<CallMetrics, 'callRefused'>;
  readonly runner: Pick<CallRunner, 'accept'>;
  readonly finish: (call: Call, end: CallEnd) => Promise<unknown>;
  /** Set while the node stops. */
  readonly isDraining: () => boolean;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracing: Tracer;
  readonly onError: (error: unknown, what: string) => void;
}

/** Answers to callers that are not taken. @see RFC 3261 sections 21.4.5, 21.4.24, 21.5.4 */
const NOT_FOUND = 404;
const BUSY_HERE = 486;
const UNAVAILABLE = 503;
/** Calls end all the time; a carrier that has another way takes it at once. @see RFC 3261 section 20.33 */
const NO_ROOM = { retryAfterSeconds: 5 };

/**
 * Takes the calls that come in to numbers of the project whose trunk they came over.
 *
 * @returns Takes one; resolves when the runner has it, or it is refused.
 */
export function createInboundCallHandler(deps: InboundCallDeps): (incoming: InboundCall) => Promise<void> {
  const take = async (incoming: InboundCall): Promise<void> => {
    if (deps.isDraining()) return incoming.reject(UNAVAILABLE, NO_ROOM);
    const callId = deps.makeId();
    if (!deps.admission.acquire(callId)) {
      deps.meter.callRefused('node');
      return incoming.reject(UNAVAILABLE, NO_ROOM);
    }
    let isTaken = false;
    try {
      isTaken = await takeAs(incoming, callId);
    } finally {
      if (!isTaken) deps.admission.release(callId);
    }
  };
  /** @returns Whether this node carries it now. */
  const takeAs = async (incoming: InboundCall, callId: string): Promise<boolean> => {
    const { projectId, number, trunk, toNumber } = incoming;
    const refuse = (...how: Parameters<InboundCall['reject']>) => {
      incoming.reject(...how);
      return false;
    };
    if (!number?.inboundEnabled || !isOn(number, trunk.id)) return refuse(NOT_FOUND);
    const own = { id: callId, projectId, direction: 'inbound', toNumber } as const;
    if ((await deps.guard.startCall(own)) !== 'begun') return refuse(UNAVAILABLE, NO_ROOM);
    // The caller waits: what does not need the other is done at the same time.
    const preparing = prepare(deps, incoming, callId);
    preparing.catch(() => undefined);
    let isTaken = false;
    try {
      if ((await deps.slots.acquire(trunk, callId, 'inbound')) > 0) {
        deps.meter.callRefused('trunk');
        return refuse(BUSY_HERE);
      }
      isTaken = await answerOn(incoming, number, callId, preparing);
      return isTaken;
    } finally {
      if (!isTaken) await letGo(deps.guard.endCall(own), 'a call’s place in its project was not freed');
    }
  };
  const letGo = (freeing: Promise<void>, failed: string) =>
    freeing.catch((failure: unknown) => deps.onError(failure, failed));
  const answerOn = async (
    incoming: InboundCall,
    number: PhoneNumber,
    callId: string,
    preparing: Promise<PreparedSession>,
  ): Promise<boolean> => {
    const { trunk, canceled } = incoming;
    try {
      incoming.prepareMedia(callId);
      const call = await keep(deps, incoming, number, callId, await preparing);
      await answer(deps, incoming, call);
      return true;
    } catch (error) {
      await letGo(deps.slots.release(trunk.id, callId), 'a trunk’s channel was not freed');
      if (!canceled.aborted) throw error;
      return false;
    }
  };
  return (incoming) =>
    take(incoming).catch((error: unknown) => {
      deps.onError(error, 'a call could not be taken');
      incoming.reject(UNAVAILABLE);
    });
}

/** A number that names no trunks may be called over any of its project's. */
function isOn({ trunkIds }: PhoneNumber, trunkId: string): boolean {
  return trunkIds.length === 0 || trunkIds.includes(trunkId);
}

function prepare({ conversations, makeId }: InboundCallDeps, { projectId }: InboundCall, callId: string) {
  return conversations.prepare({ projectId, sessionId: makeId(), channel: 'phone', callId });
}

function keep(
  deps: InboundCallDeps,
  incoming: InboundCall,
  number: PhoneNumber,
  callId: string,
  prepared: PreparedSession,
): Promise<Call> {
  const attributes = { 'callway.project.id': incoming.projectId, 'callway.call.id': callId };
  const span = deps.tracing.startSpan('accept call', { kind: 'server', attributes });
  return withSpan(span, () => keepTraced(deps, incoming, number, callId, prepared, span.traceparent));
}

async function keepTraced(
  deps: InboundCallDeps,
  incoming: InboundCall,
  number: PhoneNumber,
  callId: string,
  { session, started }: PreparedSession,
  traceparent: string | undefined,
): Promise<Call> {
  const { projectId, fromNumber, trunk, sipCallId } = incoming;
  const now = new Date(deps.clock.now()).toISOString();
  const call: Call = {
    id: callId,
    projectId,
    sessionId: session.sessionId,
    instanceId: session.instanceId,
    direction: 'inbound',
    status: 'ringing',
    endReason: null,
    fromNumber,
    toNumber: number.number,
    trunkId: trunk.id,
    sipCallId,
    sip: null,
    q850Cause: null,
    settings: {
      ringTimeoutSeconds: DEFAULT_RING_TIMEOUT_SECONDS,
      maxDurationSeconds: DEFAULT_MAX_DURATION_SECONDS,
      record: true,
      media: number.media,
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    metadata: {},
    createdAt: now,
    startedAt: now,
    answeredAt: null,
    endedAt: null,
    figures: null,
    recording: null,
    nodeId: deps.nodeId,
    hangupRequested: false,
  };
  try {
    await deps.calls.insert(call, session, started);
  } catch (error) {
    // It may be kept for all that: what was lost is perhaps the answer alone.
    endUntaken(deps, call, incoming);
    throw error;
  }
  return call;
}

async function answer(deps: InboundCallDeps, incoming: InboundCall, call: Call): Promise<void> {
  incoming.ring();
  try {
    incoming.canceled.throwIfAborted();
    deps.runner.accept(call, await incoming.answer(call.id));
  } catch (error) {
    endUntaken(deps, call, incoming);
    throw error;
  }
}

/** Not waited for: the caller is told at once, and the database may be away. Harmless for a call that was never kept. */
function endUntaken(
  { finish, clock, onError }: InboundCallDeps,
  call: Call,
  { canceled }: InboundCall,
): void {
  const endedAt = new Date(clock.now()).toISOString();
  const end: CallEnd = canceled.aborted
    ? { status: 'canceled', endReason: 'caller_hangup', endedAt }
    : { status: 'failed', endReason: 'trunk_error', endedAt };
  void retryForever(
    clock,
    () => finish(call, end),
    (failure) => onError(failure, 'a call that was not taken waits to be put away'),
  );
}
