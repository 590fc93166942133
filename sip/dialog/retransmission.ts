import type { Clock, Timer } from '../clock.ts';

interface RetransmissionState {
  readonly name: 'retransmitting' | 'acknowledged' | 'given_up';
  readonly gapMs: number;
  readonly elapsedMs: number;
}

type RetransmissionEvent = 'tick' | 'acknowledged';

type RetransmissionEffect =
  | { readonly type: 'send' }
  | { readonly type: 'wait'; readonly delayMs: number }
  | { readonly type: 'give_up' };

export interface RetransmissionTimes {
  readonly t1Ms: number;
  /** The upper bound of the interval. */
  readonly maxGapMs: number;
}

function retransmissionStart(times: RetransmissionTimes): RetransmissionState {
  return { name: 'retransmitting', gapMs: times.t1Ms, elapsedMs: 0 };
}

/**
 * The end-to-end retransmission of a response: a 2xx until its ACK, a reliable provisional response until its PRACK.
 * It starts after the first transmission; the first tick is after T1.
 *
 * ```
 *   retransmitting ◀─┐ tick: send, wait twice as long
 *     │    │ └──┘
 *     │    └── tick after 64·T1: give up ──▶ given_up
 *     └─ acknowledged ──▶ acknowledged
 * ```
 *
 * @see RFC 3261 section 13.3.1.4, RFC 3262 section 3
 */
function retransmissionStep(
  state: RetransmissionState,
  event: RetransmissionEvent,
  times: RetransmissionTimes,
): { state: RetransmissionState; effects: readonly RetransmissionEffect[] } {
  if (state.name !== 'retransmitting') return { state, effects: [] };
  if (event === 'acknowledged') return { state: { ...state, name: 'acknowledged' }, effects: [] };
  const elapsedMs = state.elapsedMs + state.gapMs;
  const limitMs = 64 * times.t1Ms;
  if (elapsedMs >= limitMs) {
    return { state: { ...state, name: 'given_up', elapsedMs }, effects: [{ type: 'give_up' }] };
  }
  const gapMs = Math.min(state.gapMs * 2, times.maxGapMs, limitMs - elapsedMs);
  return {
    state: { name: 'retransmitting', gapMs, elapsedMs },
    effects: [{ type: 'send' }, { type: 'wait', delayMs: gapMs }],
  };
}

/** A running retransmission. */
export interface Retransmission {
  /** Stops after the response is acknowledged. Idempotent. */
  stop(): void;
}

export function startRetransmission(
  clock: Clock,
  times: RetransmissionTimes,
  handlers: { send(): void; giveUp(): void },
): Retransmission {
  let state = retransmissionStart(times);
  let timer: Timer;
  const tick = (): void => {
    const step = retransmissionStep(state, 'tick', times);
    state = step.state;
    for (const effect of step.effects) {
      if (effect.type === 'send') handlers.send();
      else if (effect.type === 'wait') timer = clock.setTimer(tick, effect.delayMs);
      else handlers.giveUp();
    }
  };
  timer = clock.setTimer(tick, times.t1Ms);
  return {
    stop() {
      state = retransmissionStep(state, 'acknowledged', times).state;
      timer.cancel();
    },
  };
}
