import { dueDisclosures } from '../../agents/disclosures.ts';
import { retryForever } from '../../base/async/retryForever.ts';
import type { CallwayError } from '../../base/errors.ts';
import { type Tracer, withSpan } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { ConversationEngine, PreparedSession } from '../../engine/conversationEngine.ts';
import { sessionStarted } from '../../engine/session/sessionEvents.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import { type Call, DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS, newCall } from '../call.ts';
import { callEvent } from '../callEvents.ts';
import type { CallMetrics } from '../callMetrics.ts';
import { callPolicy } from '../callPolicy.ts';
import type { CallPlaces, Placed } from '../limits/callPlaces.ts';
import type { NodeCalls } from '../nodes/nodeCalls.ts';
import type { CallEnd } from '../runner/callFinisher.ts';
import type { CallRunner } from '../runner/callRunner.ts';
import type { InboundCall } from '../telephony.ts';
import type { CallSessions } from './callSessions.ts';
import { type CalledLine, TEST_CALL_SECONDS, type TestCall, testLine } from './testCall.ts';

export interface InboundCallDeps {
  readonly calls: NodeCalls;
  readonly conversations: ConversationEngine;
  readonly sessions: CallSessions;
  readonly places: CallPlaces;
  readonly metrics: CallMetrics;
  readonly runner: CallRunner;
  /** Publishes live events; undefined when the service publishes none. */
  readonly liveEvents?: LiveEvents | undefined;
  /** The reason for which this node takes no calls at the moment: it shuts down, cannot speak, or is overloaded. */
  readonly callRefusal: () => CallwayError | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracer: Tracer;
  readonly onError: (error: unknown, what: string) => void;
}

/** @see RFC 3261 sections 21.4.5, 21.4.24, 21.5.4 */
const NOT_FOUND = 404;
const BUSY_HERE = 486;
const SERVICE_UNAVAILABLE = 503;
/** Capacity frees up constantly; a carrier with another route uses that at once. @see RFC 3261 section 20.33 */
const RETRY_SOON_SECONDS = 5;

/**
 * Answers an inbound call to a number of the project that owns its trunk, and hands it to the runner; or rejects it.
 *
 * @returns Resolves when the runner has the call, or it is rejected. Never rejects.
 */
export async function handleInboundCall(deps: InboundCallDeps, inbound: InboundCall): Promise<void> {
  try {
    const callId = inbound.test?.callId ?? deps.makeId();
    if (deps.callRefusal() || !deps.calls.enter(callId)) {
      deps.metrics.callRefused('node');
      inbound.reject(SERVICE_UNAVAILABLE, 'overloaded', RETRY_SOON_SECONDS);
      return;
    }
    let isRunning = false;
    try {
      isRunning = await admit(deps, inbound, callId);
    } finally {
      if (!isRunning) deps.calls.leave(callId);
    }
  } catch (error) {
    deps.onError(error, 'inbound call failed');
    inbound.reject(SERVICE_UNAVAILABLE, 'overloaded');
  }
}

/** Takes the project's slot and the trunk's channel. @returns True when the runner has the call now. */
async function admit(deps: InboundCallDeps, inbound: InboundCall, callId: string): Promise<boolean> {
  const { projectId, number, trunk, toNumber, test } = inbound;
  const refuse = (...answer: Parameters<InboundCall['reject']>) => {
    inbound.reject(...answer);
    return false;
  };
  if (test) return await admitTest(deps, inbound, test);
  if (!number) return refuse(NOT_FOUND, 'unknown_number');
  if (!number.inboundEnabled) return refuse(NOT_FOUND, 'number_inactive');
  const placed: Placed = { id: callId, projectId, direction: 'inbound', toNumber, trunkId: trunk.id };
  if ((await deps.places.takeSlot(placed)) !== 'started')
    return refuse(SERVICE_UNAVAILABLE, 'overloaded', RETRY_SOON_SECONDS);
  // The caller is waiting: independent steps run side by side.
  const preparing = deps.conversations.prepare({
    projectId,
    sessionId: deps.makeId(),
    channel: 'phone',
    callId,
    customerNumber: inbound.fromNumber,
    variables: variablesOf(inbound, number),
    startNodeId: number.startNodeId ?? undefined,
  });
  preparing.catch(() => undefined);
  let isRunning = false;
  try {
    if (!(await deps.places.takeChannel(trunk, callId))) {
      deps.metrics.callRefused('trunk');
      return refuse(BUSY_HERE, 'overloaded');
    }
    isRunning = await storeAndAnswer(deps, inbound, number, callId, preparing);
    return isRunning;
  } finally {
    if (!isRunning) await deps.places.release(placed);
  }
}

/** Admits a test call, which counts towards no limit of the project and uses no trunk. */
async function admitTest(
  deps: InboundCallDeps,
  inbound: InboundCall,
  { projectId, sessionId, callId, draft, test, ...call }: TestCall,
): Promise<boolean> {
  const { variables } = call;
  const channel = 'phone';
  const preparing = deps.conversations.prepare({
    projectId,
    sessionId,
    channel,
    callId,
    draft,
    test,
    variables,
  });
  preparing.catch(() => undefined);
  return await storeAndAnswer(deps, inbound, testLine(variables), callId, preparing);
}

/** A header says more of this call than its number does. */
function variablesOf({ variables }: InboundCall, number: CalledLine): Readonly<Record<string, unknown>> {
  return { ...number.variables, ...variables };
}

async function storeAndAnswer(
  deps: InboundCallDeps,
  inbound: InboundCall,
  number: CalledLine,
  callId: string,
  preparing: Promise<PreparedSession>,
): Promise<boolean> {
  try {
    inbound.prepareMedia(callId);
    const prepared = await preparing;
    const attributes = { 'callway.project.id': inbound.projectId, 'callway.call.id': callId };
    const span = deps.tracer.startSpan('accept call', { kind: 'server', attributes });
    const call = inboundCallOf(deps, inbound, number, callId, prepared, span.traceparent);
    try {
      await withSpan(span, () => deps.calls.insert(call, prepared.session, prepared.started));
      inbound.ring();
      const liveEvents = callPolicy(call).publishesEvents ? deps.liveEvents : undefined;
      liveEvents?.publish(callEvent('call.ringing', call));
      liveEvents?.publish(sessionStarted(prepared.session, prepared.started));
      const started = await deps.sessions.start(call, inbound.canceled);
      inbound.canceled.throwIfAborted();
      const rejectedWith = started?.session.state.rejectedWith;
      if (rejectedWith === undefined) {
        deps.runner.accept(call, await inbound.answer(callId), started);
        return true;
      }
      endUnanswered(deps, call, {
        status: 'failed',
        endReason: 'rejected',
        sip: inbound.reject(rejectedWith, 'declined_by_agent'),
      });
    } catch (error) {
      // After a failed insert the call may be stored all the same: only the database's answer may be lost.
      endUnanswered(
        deps,
        call,
        inbound.canceled.aborted
          ? { status: 'canceled', endReason: 'caller_hangup' }
          : { status: 'failed', endReason: 'trunk_error' },
      );
      throw error;
    }
    return false;
  } catch (error) {
    if (!inbound.canceled.aborted) throw error;
    return false;
  }
}

function inboundCallOf(
  { calls, clock }: InboundCallDeps,
  inbound: InboundCall,
  number: CalledLine,
  callId: string,
  { session, agent }: PreparedSession,
  traceparent: string | undefined,
): Call {
  const { projectId, fromNumber, trunk, sipCallId, test } = inbound;
  const direction = test?.direction ?? 'inbound';
  const now = new Date(clock.now()).toISOString();
  return newCall({
    id: callId,
    projectId,
    sessionId: session.sessionId,
    instanceId: session.instanceId,
    release: session.release,
    direction,
    status: 'ringing',
    fromNumber,
    toNumber: number.number,
    trunkId: test ? null : trunk.id,
    sipCallId,
    settings: {
      ringTimeoutSeconds: DEFAULT_RING_TIMEOUT_SECONDS,
      maxDurationSeconds: test ? TEST_CALL_SECONDS : DEFAULT_MAX_DURATION_SECONDS,
      record: number.record ?? agent.recording.inbound,
      media: number.media,
      noiseSuppression: number.noiseSuppression ?? undefined,
      dynamicVariables: variablesOf(inbound, number),
      traceparent,
    },
    disclosures: number.media ? [] : dueDisclosures(agent.disclosures, direction),
    createdAt: now,
    startedAt: now,
    nodeId: calls.nodeId,
    isTest: test !== undefined,
  });
}

/**
 * Ends a call without waiting, since the caller gets the rejection at once and the database may be unavailable. It has
 * no effect on a call that is not stored.
 */
function endUnanswered(deps: InboundCallDeps, call: Call, how: Omit<CallEnd, 'endedAt'>): void {
  const end: CallEnd = { ...how, endedAt: new Date(deps.clock.now()).toISOString() };
  void retryForever(
    deps.clock,
    () => deps.calls.end(call, end),
    (failure) => deps.onError(failure, 'end of an unanswered inbound call not stored, retrying'),
  );
}
