import { createPendingTasks } from '../../base/async/pendingTasks.ts';
import { withTimeout } from '../../base/async/withTimeout.ts';
import { CallwayError } from '../../base/errors.ts';
import { toFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { NodeBus, NodeMessage } from '../nodes/nodeBus.ts';
import type { InboundCall, Telephony } from '../telephony.ts';
import type { CallRunner } from './callRunner.ts';

export interface CallNodeDeps {
  readonly telephony: Telephony;
  readonly bus: NodeBus;
  readonly runner: CallRunner;
  /** @see handleInboundCall */
  readonly handleInbound: (call: InboundCall) => Promise<void>;
  readonly drainMs: number;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Calls on this node: takes inbound calls and commands of the API; drains when the node stops. */
export class CallNode {
  readonly #deps: CallNodeDeps;
  /** Inbound calls that the runner does not have yet. */
  readonly #inSetup = createPendingTasks();
  readonly #unsubscribe: () => void;
  #closing: Promise<void> | undefined;

  constructor(deps: CallNodeDeps) {
    this.#deps = deps;
    deps.telephony.onInboundCall((call) => void this.#inSetup.add(deps.handleInbound(call)));
    this.#unsubscribe = deps.bus.subscribe((message) => this.#onMessage(message));
  }

  /** The number of calls that the runner has. */
  get active(): number {
    return this.#deps.runner.active;
  }

  /** Lets running calls end within the drain time, then hangs up the rest. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #onMessage(message: NodeMessage): void {
    const { runner } = this.#deps;
    if (message.kind === 'hangup') runner.hangUp(message.callId, 'api_hangup');
    else if (message.kind === 'call_request') void this.#answer(message);
  }

  async #answer({
    callId,
    requestId,
    request,
  }: Extract<NodeMessage, { kind: 'call_request' }>): Promise<void> {
    const { runner, bus, onError } = this.#deps;
    const performing = runner.perform(callId, request);
    if (!performing) return;
    const response = await performing.then(
      (answer) => ({ answer }),
      (error: unknown) => ({ failure: toFailure(this.#expected(error)) }),
    );
    await bus
      .publish({ kind: 'call_response', requestId, response })
      .catch((error: unknown) => onError(error, 'answer to a request for a call not sent'));
  }

  /** Turns an error into one for the user, without details of a defect. */
  #expected(error: unknown): CallwayError {
    if (error instanceof CallwayError && error.category !== 'internal') return error;
    this.#deps.onError(error, 'request for a call failed');
    return new CallwayError('internal', 'internal_error', 'Internal server error');
  }

  async #close(): Promise<void> {
    const { runner, clock, drainMs } = this.#deps;
    const startMs = clock.monotonicMs();
    await withTimeout(clock, this.#inSetup.settled(), drainMs);
    await runner.drain(Math.max(0, drainMs - (clock.monotonicMs() - startMs)));
    this.#unsubscribe();
    // Calls that were still in setup.
    await runner.drain(0);
  }
}
