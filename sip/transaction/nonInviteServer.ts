import * as machine from './machine.ts';
import { type Step, startTimer, type TransactionContext } from './machine.ts';

export interface NonInviteServerState {
  readonly name: 'trying' | 'proceeding' | 'completed' | 'terminated';
}

export type NonInviteServerEvent =
  | { readonly type: 'request' }
  | { readonly type: 'respond'; readonly status: number }
  | { readonly type: 'timer'; readonly timer: machine.TimerName }
  | { readonly type: 'transport_error' };

export const nonInviteServerStart: NonInviteServerState = { name: 'trying' };

/**
 * The server transaction of every method but INVITE and ACK.
 *
 * ```
 *  request ─▶ trying ── 1xx: send ──▶ proceeding ◀─┐ request again, 1xx: send
 *               │                       │    └─────┘
 *               └── final: send ──┐     │ final: send
 *                                 ▼     ▼
 *          request again: send ◀ completed ── Timer J ──▶ terminated
 * ```
 *
 * @see RFC 3261 section 17.2.2
 */
export function nonInviteServer(
  state: NonInviteServerState,
  event: NonInviteServerEvent,
  context: TransactionContext,
): Step<NonInviteServerState> {
  switch (event.type) {
    case 'request':
      return {
        state,
        effects: state.name === 'proceeding' || state.name === 'completed' ? [machine.send] : [],
      };
    case 'respond':
      return onRespond(state, event.status, context);
    case 'timer':
      if (event.timer !== 'J' || state.name !== 'completed') return { state, effects: [] };
      return { state: { name: 'terminated' }, effects: [machine.terminated] };
    case 'transport_error':
      if (state.name !== 'proceeding' && state.name !== 'completed') return { state, effects: [] };
      return { state: { name: 'terminated' }, effects: [machine.transportFailed, machine.terminated] };
  }
}

function onRespond(
  state: NonInviteServerState,
  status: number,
  context: TransactionContext,
): Step<NonInviteServerState> {
  if (state.name !== 'trying' && state.name !== 'proceeding') return { state, effects: [] };
  if (status < 200) return { state: { name: 'proceeding' }, effects: [machine.send] };
  if (context.reliable) return { state: { name: 'terminated' }, effects: [machine.send, machine.terminated] };
  return {
    state: { name: 'completed' },
    effects: [machine.send, startTimer('J', machine.transactionLifeMs(context.times))],
  };
}
