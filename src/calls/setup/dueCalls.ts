import { dueDisclosures } from '../../agents/disclosures.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { Again, LeasedWork } from '../../work/work.ts';
import type { WorkKind } from '../../work/worker.ts';
import { type Call, type CallEndReason, orderedAt } from '../call.ts';
import { callEvent } from '../callEvents.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { CallingRulesOf } from '../numbers/doNotCall.ts';
import type { CallFinisher } from '../runner/callFinisher.ts';
import { alreadyQueued, announceQueued, type PlacementDeps, releaseLock } from './acceptCall.ts';
import { endsOrWaits } from './callingGate.ts';

/** The delay until any node retries a call that could not be placed. */
const RETRY_MS = 10_000;
/** A number that is in another call for longer is not called any more. */
const MAX_LATE_MS = 15 * 60_000;
/** Calls that a node places at once; each takes a few milliseconds. */
const MAX_RUNNING = 50;

export interface DueCallsDeps extends PlacementDeps {
  readonly calls: CallStore;
  readonly conversations: ConversationEngine;
  readonly callingRules: CallingRulesOf;
  readonly limiter: CallLimiter;
  readonly finisher: CallFinisher;
  /** Publishes live events; undefined when the service publishes none. */
  readonly liveEvents?: LiveEvents | undefined;
  readonly clock: Clock;
}

/** The placing of scheduled calls, as a kind of work. */
export function dueCallsWork(deps: DueCallsDeps, rows: LeasedWork): WorkKind {
  return {
    name: 'scheduled calls',
    rows,
    async run({ id, projectId }) {
      const call = await deps.calls.find(projectId, id);
      if (call?.status !== 'scheduled') return undefined;
      return (await endsOrWaits(deps, call, null)) ? undefined : await place(deps, call);
    },
    maxRunning: MAX_RUNNING,
  };
}

/**
 * Locks its number, counts it in the project's limits, and queues it, as a call that is placed at once: on the release that
 * its person gets now.
 */
async function place(deps: DueCallsDeps, call: Call): Promise<Again | undefined> {
  const { lock, clock } = deps;
  const { projectId, toNumber, id } = call;
  if ((await lock.acquire(projectId, toNumber, id)) === undefined) {
    return await refuse(deps, call, alreadyQueued(toNumber));
  }
  let queued: Call | undefined;
  try {
    await deps.limiter.admitOrder(projectId, toNumber);
    const { current, session } = await onCurrentRelease(deps, call);
    queued = await deps.calls.queueScheduled(current, new Date(clock.now()).toISOString(), session);
  } catch (error) {
    await releaseLock(deps, call);
    return await refuse(deps, call, error);
  }
  if (queued) {
    deps.liveEvents?.publish(callEvent('call.queued', queued));
    await announceQueued(deps, queued);
  } else await releaseLock(deps, call); // canceled meanwhile
  return undefined;
}

/** One that was ordered on the working copy stays on it. */
async function onCurrentRelease({ conversations }: DueCallsDeps, call: Call) {
  const { projectId, sessionId, id, toNumber, settings } = call;
  if (call.release === null) return { current: call, session: undefined };
  const session = await conversations.prepareAgain({
    projectId,
    sessionId,
    channel: 'phone',
    callId: id,
    customerNumber: toNumber,
    variables: settings.dynamicVariables ?? undefined,
  });
  const { disclosures } = session.agent;
  const current: Call = {
    ...call,
    release: session.session.release,
    disclosures: settings.media ? [] : dueDisclosures(disclosures, 'outbound'),
  };
  return { current, session };
}

/** Ends a call that may not be placed; one that may be soon is tried again. */
async function refuse(
  { finisher, clock }: DueCallsDeps,
  call: Call,
  error: unknown,
): Promise<Again | undefined> {
  const endReason = refusalReason(error);
  if (endReason === undefined) throw error;
  const isLate = clock.now() - Date.parse(orderedAt(call)) > MAX_LATE_MS;
  if (isPassing(error) && !isLate) return { afterMs: RETRY_MS };
  await finisher.finish(call, null, {
    status: 'failed',
    endReason,
    endedAt: new Date(clock.now()).toISOString(),
  });
  return undefined;
}

function refusalReason(error: unknown): CallEndReason | undefined {
  if (!(error instanceof CallwayError)) return undefined;
  if (error.code === 'number_already_queued') return error.code;
  return error.category === 'rate_limited' || error.category === 'unprocessable' ? 'rejected' : undefined;
}

/**
 * The refusals that end soon: another call to the number, and the calls of this minute or hour. A day's budget does not
 * come back.
 */
const PASSING: ReadonlySet<string> = new Set(['number_already_queued', 'call_rate_exceeded']);

function isPassing(error: unknown): boolean {
  return error instanceof CallwayError && PASSING.has(error.code);
}
