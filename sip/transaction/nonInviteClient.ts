import * as machine from './machine.ts';
import { type Step, startTimer, stopTimer, type TransactionContext } from './machine.ts';

export interface NonInviteClientState {
  readonly name: 'initial' | 'trying' | 'proceeding' | 'completed' | 'terminated';
  /** Gap before the next retransmission (Timer E). */
  readonly retransmitMs: number;
}

export type NonInviteClientEvent =
  | { readonly type: 'start' }
  | { readonly type: 'response'; readonly status: number }
  | { readonly type: 'timer'; readonly timer: machine.TimerName }
  | { readonly type: 'transport_error' };

export const nonInviteClientStart: NonInviteClientState = { name: 'initial', retransmitMs: 0 };

/**
 * The client transaction of every method but INVITE and ACK.
 *
 * ```
 *           start: send             Timer E: send again, doubling to T2 (UDP)
 *  initial ─────────────▶ trying ◀────┐
 *                         │ │ └───────┘        Timer F, transport error: report ─▶ terminated
 *            1xx: deliver │ │ final: deliver        (from trying and proceeding)
 *                         ▼ │
 *     E: send, T2  proceeding ─ final: deliver ─▶ completed ─ Timer K ─▶ terminated
 *                           └────────────────────▶
 * ```
 *
 * @see RFC 3261 section 17.1.2
 */
export function nonInviteClient(
  state: NonInviteClientState,
  event: NonInviteClientEvent,
  context: TransactionContext,
): Step<NonInviteClientState> {
  switch (event.type) {
    case 'start':
      return {
        state: { name: 'trying', retransmitMs: context.times.t1Ms },
        effects: [
          machine.send,
          ...(context.reliable ? [] : [startTimer('E', context.times.t1Ms)]),
          startTimer('F', machine.transactionLifeMs(context.times)),
        ],
      };
    case 'response':
      return onResponse(state, event.status, context);
    case 'timer':
      return onTimer(state, event.timer, context);
    case 'transport_error':
      return isWaiting(state) ? fail(state, machine.transportFailed) : { state, effects: [] };
  }
}

function isWaiting(state: NonInviteClientState): boolean {
  return state.name === 'trying' || state.name === 'proceeding';
}

function onResponse(
  state: NonInviteClientState,
  status: number,
  context: TransactionContext,
): Step<NonInviteClientState> {
  if (!isWaiting(state)) return { state, effects: [] };
  if (status < 200) return { state: { ...state, name: 'proceeding' }, effects: [machine.deliver] };
  const stops = [stopTimer('E'), stopTimer('F'), machine.deliver];
  if (context.reliable)
    return { state: { ...state, name: 'terminated' }, effects: [...stops, machine.terminated] };
  return { state: { ...state, name: 'completed' }, effects: [...stops, startTimer('K', context.times.t4Ms)] };
}

function onTimer(
  state: NonInviteClientState,
  timer: machine.TimerName,
  context: TransactionContext,
): Step<NonInviteClientState> {
  if (timer === 'E' && isWaiting(state)) {
    const doubled = Math.min(state.retransmitMs * 2, context.times.t2Ms);
    const retransmitMs = state.name === 'proceeding' ? context.times.t2Ms : doubled;
    return { state: { ...state, retransmitMs }, effects: [machine.send, startTimer('E', retransmitMs)] };
  }
  if (timer === 'F' && isWaiting(state)) return fail(state, machine.timedOut);
  if (timer === 'K' && state.name === 'completed') {
    return { state: { ...state, name: 'terminated' }, effects: [machine.terminated] };
  }
  return { state, effects: [] };
}

function fail(state: NonInviteClientState, why: machine.Effect): Step<NonInviteClientState> {
  return {
    state: { ...state, name: 'terminated' },
    effects: [stopTimer('E'), stopTimer('F'), why, machine.terminated],
  };
}
