import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Call } from '../call.ts';
import type { CallAnswer, CallRequest } from '../nodes/callRequest.ts';
import type { StartedSession } from '../setup/callSessions.ts';
import type { CallLeg } from '../telephony.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { type CallState, inboundCall, outboundCall } from './callMachine.ts';
import type { HangupIntent } from './callResult.ts';
import type { LiveCall } from './liveCall.ts';
import { type CallRunnerDeps, RunningCall } from './runningCall.ts';

/** Runs the calls of this node. */
export class CallRunner {
  readonly #deps: CallRunnerDeps;
  readonly #live = new Map<string, LiveCall>();

  constructor(deps: CallRunnerDeps) {
    this.#deps = deps;
  }

  /**
   * Dials a call that this node has claimed.
   *
   * @param trunks - The trunks in the order of trial. The call holds a channel of the first one, its `trunkId`.
   */
  dial(call: Call, trunks: readonly Trunk[]): void {
    this.#start(call, trunks, outboundCall(trunks.length)).dial();
  }

  /** Runs an inbound call, which holds a channel of its trunk. @param started - Its session. */
  accept(call: Call, leg: CallLeg, started: StartedSession | undefined): void {
    this.#start(call, [], inboundCall(), started).follow(leg);
  }

  /** @returns False when this node does not run the call. */
  hangUp(callId: string, intent: HangupIntent): boolean {
    const live = this.#live.get(callId);
    live?.hangUp(intent);
    return live !== undefined;
  }

  /** @returns Undefined when this node does not run the call. @see LiveCall.perform */
  perform(callId: string, request: CallRequest): Promise<CallAnswer> | undefined {
    return this.#live.get(callId)?.perform(request);
  }

  get active(): number {
    return this.#live.size;
  }

  /** Waits up to `graceMs` for the calls to end, then hangs up the rest. Resolves when no call is left. */
  async drain(graceMs: number): Promise<void> {
    const allEnded = () => Promise.all([...this.#live.values()].map(({ ended }) => ended));
    await withTimeout(this.#deps.clock, allEnded(), graceMs);
    for (const live of this.#live.values()) live.hangUp('api_hangup');
    await allEnded();
  }

  #start(call: Call, trunks: readonly Trunk[], initial: CallState, started?: StartedSession): LiveCall {
    const { calls, streams } = this.#deps;
    const onClosed = () => {
      this.#live.delete(call.id);
      calls.leave(call.id);
      streams.forget(call.id);
    };
    const { live } = new RunningCall(this.#deps, call, trunks, initial, started, onClosed);
    this.#live.set(call.id, live);
    return live;
  }
}
