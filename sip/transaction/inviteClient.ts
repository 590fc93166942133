import * as machine from './machine.ts';
import { type Step, startTimer, stopTimer, type TransactionContext } from './machine.ts';

export interface InviteClientState {
  readonly name: 'initial' | 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated';
  /** Gap before the next retransmission (Timer A). */
  readonly retransmitMs: number;
}

export type InviteClientEvent =
  | { readonly type: 'start' }
  | { readonly type: 'response'; readonly status: number }
  | { readonly type: 'timer'; readonly timer: machine.TimerName }
  | { readonly type: 'transport_error' };

export const inviteClientStart: InviteClientState = { name: 'initial', retransmitMs: 0 };

/**
 * The INVITE client transaction.
 *
 * ```
 *            start: send                      Timer A: send again, doubling (UDP)
 *  initial ──────────────▶ calling ◀─────────┐
 *                           │ │ │ └──────────┘
 *                    1xx:   │ │ └─ Timer B, transport error: report ─▶ terminated
 *                  deliver  ▼ │
 *                    proceeding ◀─┐ 1xx: deliver
 *                      │  │  └────┘
 *     300–699: ack,    │  │ 2xx: deliver                  (both also straight from calling)
 *     deliver          ▼  ▼
 *              completed  accepted ◀─┐ 2xx again: deliver
 *   again: ack ◀┤  │         │ └─────┘
 *  2xx: deliver ◀┘ │         │
 *          Timer D ▼         ▼ Timer M
 *                terminated
 * ```
 *
 * @see RFC 3261 section 17.1.1, RFC 6026 section 7.2
 */
export function inviteClient(
  state: InviteClientState,
  event: InviteClientEvent,
  context: TransactionContext,
): Step<InviteClientState> {
  switch (event.type) {
    case 'start':
      return start(context);
    case 'response':
      return onResponse(state, event.status, context);
    case 'timer':
      return onTimer(state, event.timer);
    case 'transport_error':
      return onTransportError(state);
  }
}

function start(context: TransactionContext): Step<InviteClientState> {
  const retransmit = context.reliable ? [] : [startTimer('A', context.times.t1Ms)];
  return {
    state: { name: 'calling', retransmitMs: context.times.t1Ms },
    effects: [machine.send, ...retransmit, startTimer('B', machine.transactionLifeMs(context.times))],
  };
}

function onResponse(
  state: InviteClientState,
  status: number,
  context: TransactionContext,
): Step<InviteClientState> {
  switch (state.name) {
    case 'calling':
    case 'proceeding': {
      const stops = state.name === 'calling' ? [stopTimer('A'), stopTimer('B')] : [];
      if (status < 200) {
        return { state: { ...state, name: 'proceeding' }, effects: [...stops, machine.deliver] };
      }
      if (status < 300) {
        return {
          state: { ...state, name: 'accepted' },
          effects: [...stops, startTimer('M', machine.transactionLifeMs(context.times)), machine.deliver],
        };
      }
      const effects = [...stops, machine.ack, machine.deliver];
      if (context.reliable)
        return { state: { ...state, name: 'terminated' }, effects: [...effects, machine.terminated] };
      return {
        state: { ...state, name: 'completed' },
        effects: [...effects, startTimer('D', machine.timerDMs(context.times))],
      };
    }
    case 'completed':
      if (status < 200) return { state, effects: [] };
      return { state, effects: [status < 300 ? machine.deliver : machine.ack] };
    case 'accepted':
      return { state, effects: status >= 200 && status < 300 ? [machine.deliver] : [] };
    case 'initial':
    case 'terminated':
      return { state, effects: [] };
  }
}

function onTimer(state: InviteClientState, timer: machine.TimerName): Step<InviteClientState> {
  if (timer === 'A' && state.name === 'calling') {
    const retransmitMs = state.retransmitMs * 2;
    return { state: { ...state, retransmitMs }, effects: [machine.send, startTimer('A', retransmitMs)] };
  }
  if (timer === 'B' && state.name === 'calling') {
    return {
      state: { ...state, name: 'terminated' },
      effects: [stopTimer('A'), machine.timedOut, machine.terminated],
    };
  }
  if ((timer === 'D' && state.name === 'completed') || (timer === 'M' && state.name === 'accepted')) {
    return { state: { ...state, name: 'terminated' }, effects: [machine.terminated] };
  }
  return { state, effects: [] };
}

/** Handles a transport error. A failed ACK after a response is repeated on the peer's retransmission. */
function onTransportError(state: InviteClientState): Step<InviteClientState> {
  if (state.name !== 'calling') return { state, effects: [] };
  return {
    state: { ...state, name: 'terminated' },
    effects: [stopTimer('A'), stopTimer('B'), machine.transportFailed, machine.terminated],
  };
}
