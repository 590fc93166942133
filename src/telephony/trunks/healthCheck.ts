import type { Clock, Timer } from '../../base/values/clock.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { SipControl } from '../control/control.ts';
import { contactUri, identityUri, routeOf, trunkUri, USER_AGENT } from './addressing.ts';
import {
  answeredError,
  sendError,
  TRUNK_ERRORS,
  type TrunkError,
  trunkError,
  unansweredError,
} from './trunkError.ts';

export interface HealthState {
  /** The result; null until it is known. */
  readonly isReachable: boolean | null;
  /** Round trip of the last check that was answered. */
  readonly lastOptionsMs: number | null;
  readonly error: TrunkError | null;
}

export interface HealthCheckDeps {
  readonly control: SipControl;
  readonly clock: Clock;
  readonly random: () => number;
  readonly makeToken: () => string;
  /** The shortest time between two checks at the moment. */
  readonly minIntervalMs: () => number;
  readonly onChange: (state: HealthState) => void;
}

/** A single lost packet does not make a trunk unreachable. */
const MISSES_TO_UNREACHABLE = 2;
const FIRST_CHECK_WITHIN_MS = 500;
const SERVICE_UNAVAILABLE = 503;
/** The user part of From at a trunk without a username. */
const DEFAULT_USER = 'callway';

/**
 * Sends OPTIONS to a trunk at its interval. Any final response means that it is reachable, but for 503: the trunk answers
 * and takes no calls, as in maintenance or overload. @see RFC 3261 sections 11.2 and 21.5.4
 */
export class TrunkHealthCheck {
  readonly #trunk: Trunk;
  readonly #deps: HealthCheckDeps;
  readonly #callId: string;
  #sequence = 0;
  #misses = 0;
  #state: HealthState = { isReachable: null, lastOptionsMs: null, error: null };
  #isStopped = false;
  #nextCheck: Timer;
  #responseTimer: Timer | undefined;

  constructor(trunk: Trunk, deps: HealthCheckDeps) {
    this.#trunk = trunk;
    this.#deps = deps;
    this.#callId = deps.makeToken();
    this.#nextCheck = deps.clock.setTimer(() => this.#check(), deps.random() * FIRST_CHECK_WITHIN_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#nextCheck.cancel();
    this.#responseTimer?.cancel();
  }

  #check(): void {
    const { clock, control } = this.#deps;
    const intervalMs = Math.max(this.#trunk.optionsIntervalSeconds * 1000, this.#deps.minIntervalMs());
    this.#nextCheck = clock.setTimer(() => this.#check(), intervalMs);
    // Without a connection to the SIP server nothing is known of the trunk.
    if (!control.isConnected) return;
    this.#sequence += 1;
    const startMs = clock.monotonicMs();
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      timeout.cancel();
    };
    const miss = (error: TrunkError) => {
      if (isSettled || this.#isStopped) return;
      settle();
      this.#onMiss(error);
    };
    const timeoutMs = Math.min(this.#trunk.responseTimeoutSeconds * 1000, intervalMs);
    const timeout = clock.setTimer(() => miss(trunkError(TRUNK_ERRORS.unanswered)), timeoutMs);
    this.#responseTimer = timeout;
    control
      .request(this.#options(), {
        onResponse: ({ message, isFromPeer }) => {
          if (message.status < 200) return;
          if (!isFromPeer) return miss(unansweredError(message));
          if (message.status === SERVICE_UNAVAILABLE)
            return miss(answeredError(TRUNK_ERRORS.unavailable, message));
          settle();
          this.#misses = 0;
          const lastOptionsMs = Math.round(clock.monotonicMs() - startMs);
          this.#update({ isReachable: true, lastOptionsMs, error: null });
        },
        onConnectionLost: settle,
      })
      .catch((error: unknown) => miss(sendError(error)));
  }

  #options() {
    const trunk = this.#trunk;
    const user = trunk.username ?? DEFAULT_USER;
    const route = routeOf(trunk);
    const headers = {
      'Call-ID': `${this.#callId}-${this.#sequence}`,
      From: `<${identityUri(trunk, user)}>;tag=${this.#deps.makeToken()}`,
      To: `<${trunkUri(trunk)}>`,
      Contact: `<${contactUri(trunk, user)}>`,
      Accept: 'application/sdp',
      'User-Agent': USER_AGENT,
    };
    return { method: 'OPTIONS', uri: trunkUri(trunk), headers, route };
  }

  #onMiss(error: TrunkError): void {
    this.#misses += 1;
    const isReachable = this.#misses >= MISSES_TO_UNREACHABLE ? false : this.#state.isReachable;
    this.#update({ isReachable, error });
  }

  #update(change: Partial<HealthState>): void {
    this.#state = { ...this.#state, ...change };
    if (!this.#isStopped) this.#deps.onChange(this.#state);
  }
}
