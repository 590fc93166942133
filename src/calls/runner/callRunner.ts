import type { Clock, Timer } from '../../base/clock.ts';
import { retryForever } from '../../base/retryForever.ts';
import { type Tracer, traceLogFields } from '../../base/tracing.ts';
import { withTimeout } from '../../base/withTimeout.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { MediaReport } from '../../media/mediaSession.ts';
import { type Call, isFinal, projectNumber } from '../call.ts';
import type { CallMetrics } from '../callMetrics.ts';
import type { CallStore } from '../callStore.ts';
import type { BilledLeg, CallLimiter } from '../limits/callLimiter.ts';
import type { NumberLock } from '../setup/numberLock.ts';
import type { CallLeg, Telephony } from '../telephony.ts';
import { dialTransferTarget } from '../transfer/transferLegs.ts';
import type { Trunk } from '../trunks/trunk.ts';
import type { TrunkSlots } from '../trunks/trunkSlots.ts';
import { createTrunkChannel, type TrunkChannel } from '../trunks/trunkSlots.ts';
import { type CallState, inboundCall, outboundCall } from './callMachine.ts';
import type { CallResult, HangupIntent } from './callResult.ts';
import { createCallTelemetry } from './callTelemetry.ts';
import { LiveCall } from './liveCall.ts';

export interface CallRunnerDeps {
  readonly nodeId: string;
  readonly telephony: Telephony;
  readonly calls: Pick<CallStore, 'update' | 'find'>;
  readonly addEvents: (instanceId: string, events: readonly HistoryEvent[]) => Promise<void>;
  readonly lock: NumberLock;
  readonly slots: TrunkSlots;
  readonly guard: Pick<CallLimiter, 'recordUsage' | 'requireAllowedDestination' | 'hasBudget'>;
  /** The trunks that a call from this number may take now. @see routeFor */
  readonly routeFor: (projectId: string, fromNumber: string) => Promise<readonly Trunk[]>;
  readonly engine: (call: Call) => Promise<StreamTarget>;
  readonly recordingPath: (call: Call) => string | undefined;
  /** Puts an ended call away, with all that is due at its end. Harmless when done twice. */
  readonly finish: (
    call: Call,
    result: CallResult,
    media: MediaReport | undefined,
    endedAt: string,
  ) => Promise<void>;
  readonly meter: CallMetrics;
  /** A call is put away, and this node has nothing more to do with it. */
  readonly onOver: (call: Call) => void;
  readonly clock: Clock;
  readonly tracing: Tracer;
  /** A step of a call that is worth a line of the log. */
  readonly onStep: (fields: Readonly<Record<string, unknown>>, step: string) => void;
  readonly onError: (error: unknown, what: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** The calls that this node carries. */
export interface CallRunner {
  /**
   * Begins to place a call that this node has claimed, over these trunks in their order.
   *
   * @param call - Its `trunkId` is that of the first of them, where the channel has been taken.
   */
  dial(call: Call, route: readonly Trunk[]): void;
  /** Takes over a leg of a caller; the channel of its trunk has been taken. */
  accept(call: Call, leg: CallLeg): void;
  /** @returns False where this node does not carry the call. */
  hangUp(callId: string, intent: HangupIntent): boolean;
  transfer(callId: string, to: string): boolean;
  readonly active: number;
  /** Resolves when no call is left, or hangs up those that are after `graceMs`. */
  drain(graceMs: number): Promise<void>;
}

/** Well within every lease. */
const RENEW_MS = 15_000;

export function createCallRunner(deps: CallRunnerDeps): CallRunner {
  const live = new Map<string, LiveCall>();
  const { clock } = deps;
  const report = (call: Call) => (error: unknown, what: string) =>
    deps.onError(error, what, {
      callId: call.id,
      projectId: call.projectId,
      ...traceLogFields(call.settings.traceparent),
    });

  const insist = <Result>(work: () => Promise<Result>, call: Call, what: string) =>
    retryForever(clock, work, (error) => report(call)(error, what));

  const start = (
    accepted: Call,
    trunks: readonly Trunk[],
    begin: (one: LiveCall) => void,
    initial: CallState,
  ) => {
    const route = [...trunks];
    const trace = createCallTelemetry({ tracing: deps.tracing, now: clock.now, log: deps.onStep }, accepted);
    const call = withinTrace(accepted, trace.traceparent);
    const writes = createWriter(call, insist);
    const held = { slots: deps.slots, onError: report(call) };
    const channel = createTrunkChannel({ ...held, holder: call.id, trunkId: call.trunkId });
    const second = createTrunkChannel({ ...held, holder: `${call.id}/transfer`, trunkId: null });
    let isKnownToDial = call.status !== 'queued';
    /** What is known before the first INVITE goes out makes no other node call whom this one may have called. */
    const mayDial = async (trunk: Trunk): Promise<boolean> => {
      if (isKnownToDial) return true;
      const startedAt = new Date(clock.now()).toISOString();
      const change = { status: 'dialing', startedAt, trunkId: trunk.id } as const;
      const write = () => deps.calls.update(call.id, deps.nodeId, change);
      const kept = await insist(write, call, 'a call waits to be kept as dialled');
      isKnownToDial = true;
      if (kept && !kept.hangupRequested) return true;
      one.hangUp(kept ? 'api_hangup' : 'node_lost');
      return false;
    };
    const one = new LiveCall(call, initial, {
      clock,
      meter: deps.meter,
      trace,
      engine: deps.engine,
      requireDestination: (to) => deps.guard.requireAllowedDestination(call.projectId, to),
      recordingPath: deps.recordingPath,
      onError: report(call),
      save: (change, event) =>
        writes.add(async () => {
          const kept = await deps.calls.update(call.id, deps.nodeId, change, event);
          // Its end was asked for before this node was known to carry it.
          if (kept?.hangupRequested) one.hangUp('api_hangup');
        }, 'a change of a call waits to be kept'),
      note: (event) =>
        writes.add(() => deps.addEvents(call.instanceId, [event]), 'an event of a call waits to be kept'),
      async dialNext() {
        const trunk = route.shift();
        if (!trunk) return undefined;
        if ((await channel.moveTo(trunk)) > 0 || !(await mayDial(trunk))) return undefined;
        return { trunk, leg: deps.telephony.dial(dialRequest(call, trunk)) };
      },
      legsTo: (to, beside) => {
        const route = () => deps.routeFor(call.projectId, projectNumber(call));
        const mayPay = () => deps.guard.hasBudget(call.projectId);
        const { telephony } = deps;
        return dialTransferTarget({ telephony, route, mayPay, channel: second, clock }, call, to, beside);
      },
      async finish(result, media, endedAt) {
        const counted = renewal.stop();
        await writes.done();
        await counted;
        await insist(
          () => deps.finish(call, result, media, endedAt),
          call,
          'an ended call waits to be put away',
        );
        await channel.release();
        live.delete(call.id);
        trace.ended(result, endedAt);
        deps.meter.callEnded(call.direction, result, media);
        deps.onOver(call);
      },
    });
    const renewal = keepLeases(deps, call, [channel, second], one);
    live.set(call.id, one);
    deps.meter.callStarted(call.direction);
    begin(one);
  };

  return {
    dial: (call, route) => start(call, route, (one) => one.dial(), outboundCall(route.length)),
    accept: (call, leg) => start(call, [], (one) => one.follow(leg), inboundCall()),
    hangUp(callId, intent) {
      const one = live.get(callId);
      one?.hangUp(intent);
      return one !== undefined;
    },
    transfer: (callId, to) => live.get(callId)?.transfer(to) ?? false,
    get active() {
      return live.size;
    },
    async drain(graceMs) {
      const all = () => Promise.all([...live.values()].map(({ over }) => over));
      await withTimeout(clock, all(), graceMs);
      for (const one of live.values()) one.hangUp('api_hangup');
      await all();
    },
  };
}

/** Whoever talks with the call does so in its span. */
function withinTrace(call: Call, traceparent: string | undefined): Call {
  return traceparent === undefined ? call : { ...call, settings: { ...call.settings, traceparent } };
}

function dialRequest(call: Call, trunk: Trunk) {
  const { projectId, id: callId, fromNumber, toNumber, settings } = call;
  return {
    projectId,
    callId,
    trunk,
    fromNumber,
    toNumber,
    ringTimeoutMs: settings.ringTimeoutSeconds * 1000,
    ...(settings.asGiven ? { asGiven: settings.asGiven } : {}),
  };
}

/**
 * Holds on to what would run out, counts what is talked, and hears of wishes whose message was lost; and of the end that
 * others gave a call while this node was taken for dead.
 */
function keepLeases(deps: CallRunnerDeps, call: Call, channels: readonly TrunkChannel[], one: LiveCall) {
  let timer: Timer | undefined;
  let counted: readonly BilledLeg[] = [];
  const failed = (error: unknown) =>
    deps.onError(error, 'a call’s leases were not renewed', { callId: call.id });
  const count = async (): Promise<boolean> => {
    const legs = one.paidLegs;
    const more = legs.map(({ to, talkTimeMs }, index) => ({
      to,
      talkTimeMs: talkTimeMs - (counted[index]?.talkTimeMs ?? 0),
    }));
    const mayGoOn = await deps.guard.recordUsage(call, more);
    counted = legs;
    return mayGoOn;
  };
  const hold = async () => {
    if (call.direction === 'outbound') await deps.lock.renew(call.projectId, call.toNumber, call.id);
    for (const channel of channels) await channel.renew();
  };
  const look = async () => {
    const found = await deps.calls.find(call.projectId, call.id);
    if (found?.nodeId !== deps.nodeId || isFinal(found.status)) one.hangUp('node_lost');
    else if (found.hangupRequested) one.hangUp('api_hangup');
  };
  const renew = async () => {
    // The database tells of wishes while Redis is away, too.
    await hold().catch(failed);
    await look().catch(failed);
    if (!(await count())) one.hangUp('max_duration');
  };
  let last: Promise<unknown> = Promise.resolve();
  const wait = () => {
    timer = deps.clock.setTimer(() => {
      wait();
      last = last.then(renew).catch(failed);
    }, RENEW_MS);
  };
  wait();
  return {
    /** @returns Resolves when all that was talked is counted, or could not be. */
    stop(): Promise<unknown> {
      timer?.cancel();
      last = last.then(count).catch(failed);
      return last;
    },
  };
}

/** Writes one after the other, each until it is kept. */
function createWriter(
  call: Call,
  insist: (work: () => Promise<unknown>, call: Call, what: string) => Promise<unknown>,
) {
  let last: Promise<unknown> = Promise.resolve();
  return {
    add(work: () => Promise<unknown>, what: string) {
      last = last.then(() => insist(work, call, what));
    },
    done: () => last,
  };
}
