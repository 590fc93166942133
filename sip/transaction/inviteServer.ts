import * as machine from './machine.ts';
import { type Step, startTimer, stopTimer, type TransactionContext } from './machine.ts';

export interface InviteServerState {
  readonly name: 'proceeding' | 'completed' | 'confirmed' | 'accepted' | 'terminated';
  /** Gap before the next retransmission (Timer G). */
  readonly retransmitMs: number;
}

export type InviteServerEvent =
  /** A retransmission of the INVITE. */
  | { readonly type: 'request' }
  /** The TU responds; the runner keeps the response, and `send` sends the latest. */
  | { readonly type: 'respond'; readonly status: number }
  | { readonly type: 'ack' }
  | { readonly type: 'timer'; readonly timer: machine.TimerName }
  | { readonly type: 'transport_error' };

export const inviteServerStart: InviteServerState = { name: 'proceeding', retransmitMs: 0 };

/**
 * The INVITE server transaction.
 *
 * ```
 *   INVITE ─▶ proceeding ◀─┐ INVITE again, or 1xx: send
 *              │      │ └──┘
 *  300–699:    │      │ 2xx: send
 *  send        ▼      ▼
 *        completed   accepted ◀─┐ INVITE again: nothing; 2xx again: send (the user's retransmission)
 *  G: send ◀┘ │ │        │ └────┘ ACK: deliver
 *         ACK │ │ H:     │
 *             ▼ │ tell   │ Timer L
 *     confirmed └────▶ terminated ◀── Timer I from confirmed
 * ```
 *
 * @see RFC 3261 section 17.2.1, RFC 6026 section 7.1
 */
export function inviteServer(
  state: InviteServerState,
  event: InviteServerEvent,
  context: TransactionContext,
): Step<InviteServerState> {
  switch (event.type) {
    case 'request':
      return {
        state,
        effects: state.name === 'proceeding' || state.name === 'completed' ? [machine.send] : [],
      };
    case 'respond':
      return onRespond(state, event.status, context);
    case 'ack':
      return onAck(state, context);
    case 'timer':
      return onTimer(state, event.timer, context);
    case 'transport_error':
      return onTransportError(state);
  }
}

function onRespond(
  state: InviteServerState,
  status: number,
  context: TransactionContext,
): Step<InviteServerState> {
  if (state.name === 'accepted')
    return { state, effects: status >= 200 && status < 300 ? [machine.send] : [] };
  if (state.name !== 'proceeding') return { state, effects: [] };
  if (status < 200) return { state, effects: [machine.send] };
  const lifeMs = machine.transactionLifeMs(context.times);
  if (status < 300) {
    return { state: { ...state, name: 'accepted' }, effects: [machine.send, startTimer('L', lifeMs)] };
  }
  return {
    state: { name: 'completed', retransmitMs: context.times.t1Ms },
    effects: [
      machine.send,
      ...(context.reliable ? [] : [startTimer('G', context.times.t1Ms)]),
      startTimer('H', lifeMs),
    ],
  };
}

function onAck(state: InviteServerState, context: TransactionContext): Step<InviteServerState> {
  if (state.name === 'accepted') return { state, effects: [machine.deliver] };
  if (state.name !== 'completed') return { state, effects: [] };
  const stops = [stopTimer('G'), stopTimer('H')];
  if (context.reliable)
    return { state: { ...state, name: 'terminated' }, effects: [...stops, machine.terminated] };
  return { state: { ...state, name: 'confirmed' }, effects: [...stops, startTimer('I', context.times.t4Ms)] };
}

function onTimer(
  state: InviteServerState,
  timer: machine.TimerName,
  context: TransactionContext,
): Step<InviteServerState> {
  if (timer === 'G' && state.name === 'completed') {
    const retransmitMs = Math.min(state.retransmitMs * 2, context.times.t2Ms);
    return { state: { ...state, retransmitMs }, effects: [machine.send, startTimer('G', retransmitMs)] };
  }
  if (timer === 'H' && state.name === 'completed') {
    return {
      state: { ...state, name: 'terminated' },
      effects: [stopTimer('G'), machine.timedOut, machine.terminated],
    };
  }
  if ((timer === 'I' && state.name === 'confirmed') || (timer === 'L' && state.name === 'accepted')) {
    return { state: { ...state, name: 'terminated' }, effects: [machine.terminated] };
  }
  return { state, effects: [] };
}

/** The TU retransmits a 2xx; other responses fail the transaction. */
function onTransportError(state: InviteServerState): Step<InviteServerState> {
  if (state.name !== 'completed') return { state, effects: [] };
  return {
    state: { ...state, name: 'terminated' },
    effects: [stopTimer('G'), stopTimer('H'), machine.transportFailed, machine.terminated],
  };
}
