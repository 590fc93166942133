/** The base timer values of RFC 3261. @see RFC 3261 table 4 */
export interface SipTimes {
  /** The estimate of the round-trip time. */
  readonly t1Ms: number;
  /** The maximum retransmission interval. */
  readonly t2Ms: number;
  /** Maximum duration of a message in the network. */
  readonly t4Ms: number;
}

export const DEFAULT_SIP_TIMES: SipTimes = { t1Ms: 500, t2Ms: 4000, t4Ms: 5000 };

/** 64·T1: Timers B, F, H, J, L and M. */
export function transactionLifeMs(times: SipTimes): number {
  return 64 * times.t1Ms;
}

/** Timer D: how long retransmitted responses are absorbed over UDP. */
export const timerDMs = transactionLifeMs;

/** Timer names of RFC 3261 table 4 and RFC 6026. */
export type TimerName = 'A' | 'B' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I' | 'J' | 'K' | 'L' | 'M';

/** The effect of a state transition, performed by the runner. */
export type Effect =
  | { readonly type: 'send' }
  | { readonly type: 'ack' }
  | { readonly type: 'deliver' }
  | { readonly type: 'start_timer'; readonly timer: TimerName; readonly delayMs: number }
  | { readonly type: 'stop_timer'; readonly timer: TimerName }
  | { readonly type: 'timed_out' }
  | { readonly type: 'transport_failed' }
  | { readonly type: 'terminated' };

export interface Step<State> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** The transport's properties that the state machines need. */
export interface TransactionContext {
  readonly reliable: boolean;
  readonly times: SipTimes;
}

export const send: Effect = { type: 'send' };
export const ack: Effect = { type: 'ack' };
export const deliver: Effect = { type: 'deliver' };
export const timedOut: Effect = { type: 'timed_out' };
export const transportFailed: Effect = { type: 'transport_failed' };
export const terminated: Effect = { type: 'terminated' };

export function startTimer(timer: TimerName, delayMs: number): Effect {
  return { type: 'start_timer', timer, delayMs };
}

export function stopTimer(timer: TimerName): Effect {
  return { type: 'stop_timer', timer };
}
