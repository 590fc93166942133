import type { Clock, Timer } from '../../base/clock.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { SipControl } from '../control/control.ts';
import { USER_AGENT } from '../leg/outbound.ts';
import { contactUri, identityUri, routeOf, trunkUri } from './addressing.ts';

export interface HealthState {
  /** Null until it is known. */
  readonly isReachable: boolean | null;
  /** Round trip of the last check that was answered. */
  readonly lastOptionsMs: number | null;
  readonly error: string | null;
}

export interface HealthCheckDeps {
  readonly control: SipControl;
  readonly clock: Clock;
  readonly random: () => number;
  readonly makeToken: () => string;
  readonly onChange: (state: HealthState) => void;
}

/** One lost packet is no dead trunk. */
const MISSES_TO_UNREACHABLE = 2;
const FIRST_CHECK_WITHIN_MS = 500;
/** Who asks, where a trunk has no name of ours. */
const USER = 'callway';

/**
 * Asks a trunk by OPTIONS again and again. Whatever it answers, it lives.
 *
 * @returns A function that stops it.
 */
export function monitorTrunkHealth(trunk: Trunk, deps: HealthCheckDeps): () => void {
  const { control, clock, onChange } = deps;
  const intervalMs = trunk.optionsIntervalSeconds * 1000;
  const patienceMs = Math.min(trunk.responseTimeoutSeconds * 1000, intervalMs);
  const callId = deps.makeToken();
  const user = trunk.username ?? USER;
  const route = routeOf(trunk);
  let sequence = 0;
  let misses = 0;
  let state: HealthState = { isReachable: null, lastOptionsMs: null, error: null };
  let isStopped = false;
  let next: Timer = clock.setTimer(() => check(), deps.random() * FIRST_CHECK_WITHIN_MS);
  let limit: Timer | undefined;

  const tell = (change: Partial<HealthState>) => {
    state = { ...state, ...change };
    if (!isStopped) onChange(state);
  };
  const check = () => {
    next = clock.setTimer(check, intervalMs);
    // What our own SIP server lacks is not the trunk's fault.
    if (!control.isConnected) return;
    sequence += 1;
    const startMs = clock.monotonicMs();
    // What comes of a check counts once: an answer, a failure, or the end of our patience.
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      patience.cancel();
    };
    const miss = (error: string) => {
      if (isSettled || isStopped) return;
      settle();
      misses += 1;
      const isReachable = misses >= MISSES_TO_UNREACHABLE ? false : state.isReachable;
      tell({ isReachable, error });
    };
    const patience = clock.setTimer(() => miss('OPTIONS was not answered in time'), patienceMs);
    limit = patience;
    const headers = {
      'Call-ID': `${callId}-${sequence}`,
      From: `<${identityUri(trunk, user)}>;tag=${deps.makeToken()}`,
      To: `<${trunkUri(trunk)}>`,
      Contact: `<${contactUri(trunk, user)}>`,
      Accept: 'application/sdp',
      'User-Agent': USER_AGENT,
    };
    control
      .request(
        { method: 'OPTIONS', uri: trunkUri(trunk), headers, ...(route ? { route } : {}) },
        {
          onResponse({ status, isFromPeer }) {
            if (!isFromPeer) {
              if (status >= 200) miss('the host cannot be reached');
              return;
            }
            settle();
            misses = 0;
            tell({
              isReachable: true,
              lastOptionsMs: Math.round(clock.monotonicMs() - startMs),
              error: null,
            });
          },
          onConnectionLost: settle,
        },
      )
      .catch((error: unknown) => miss(error instanceof Error ? error.message : String(error)));
  };

  return () => {
    isStopped = true;
    next.cancel();
    limit?.cancel();
  };
}
