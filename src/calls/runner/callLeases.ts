import type { Clock, Timer } from '../../base/values/clock.ts';
import type { BilledLeg, Call } from '../call.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { CallPlaces } from '../limits/callPlaces.ts';
import type { NodeCalls } from '../nodes/nodeCalls.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';
import type { HangupIntent } from './callResult.ts';

/** The interval of renewals, far below every lease. */
const RENEW_MS = 15_000;

export interface CallLeasesDeps {
  readonly calls: NodeCalls;
  readonly places: CallPlaces;
  readonly limiter: CallLimiter;
  readonly clock: Clock;
}

/** The call whose leases are renewed. */
export interface LeasedCall {
  /** Talk time so far, per leg that the project pays for. A leg keeps its index in its list. */
  readonly billedLegs: Readonly<Record<string, readonly BilledLeg[]>>;
  hangUp(intent: HangupIntent): void;
}

/**
 * Renews what a running call holds until `stop`: number lock, trunk channels and project slot. With each renewal it
 * records the usage, and reads the stored call for a hang-up request whose message was lost, and for an end that another
 * node stored while this one was taken for dead.
 */
export class CallLeases {
  readonly #deps: CallLeasesDeps;
  readonly #call: Call;
  readonly #channels: () => readonly TrunkChannel[];
  readonly #live: LeasedCall;
  readonly #onError: (error: unknown, what: string) => void;
  #timer: Timer;
  #recorded: LeasedCall['billedLegs'] = {};
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    deps: CallLeasesDeps,
    call: Call,
    channels: () => readonly TrunkChannel[],
    live: LeasedCall,
    onError: (error: unknown, what: string) => void,
  ) {
    this.#deps = deps;
    this.#call = call;
    this.#channels = channels;
    this.#live = live;
    this.#onError = onError;
    this.#timer = this.#schedule();
  }

  /** Resolves when the last usage is recorded, or could not be. Never rejects. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    await this.#enqueue(() => this.#recordUsage());
  }

  #schedule(): Timer {
    return this.#deps.clock.setTimer(() => {
      this.#timer = this.#schedule();
      void this.#enqueue(() => this.#renew());
    }, RENEW_MS);
  }

  #enqueue(work: () => Promise<unknown>): Promise<unknown> {
    this.#last = this.#last.then(work).catch(this.#failed);
    return this.#last;
  }

  async #renew(): Promise<void> {
    // The database answers also while Redis is away.
    await this.#deps.places.renew(this.#call, this.#channels()).catch(this.#failed);
    await this.#readRequests().catch(this.#failed);
    await this.#recordUsage();
    const isBilled = Object.values(this.#recorded)
      .flat()
      .some(({ talkTimeMs }) => talkTimeMs > 0);
    if (isBilled && !(await this.#deps.limiter.mayContinue(this.#call.projectId)))
      this.#live.hangUp('max_duration');
  }

  async #readRequests(): Promise<void> {
    const reason = await this.#deps.calls.hangupReason(this.#call);
    if (reason) this.#live.hangUp(reason);
  }

  async #recordUsage(): Promise<void> {
    const legs = this.#live.billedLegs;
    const added = Object.entries(legs).flatMap(([list, all]) =>
      all.map(({ to, talkTimeMs }, index) => ({
        to,
        talkTimeMs: talkTimeMs - (this.#recorded[list]?.[index]?.talkTimeMs ?? 0),
      })),
    );
    await this.#deps.limiter.recordUsage(this.#call.projectId, added);
    this.#recorded = legs;
  }

  readonly #failed = (error: unknown): void => this.#onError(error, 'call leases not renewed');
}
