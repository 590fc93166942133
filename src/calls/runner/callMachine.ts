import type { CallCommand, HangupReason } from '../../media/agentStream/streamClient.ts';
import type { LegEnd } from '../telephony.ts';
import { type CallResult, callResultOf, type HangupIntent, mayTryNextTrunk } from './callResult.ts';

type TransferCommand = Extract<CallCommand, { kind: 'transfer' }>;

/**
 * ```
 *              ringing                answered             agent stream open
 *  dialing ──────────────▶ ringing ──────────────▶ connecting ─────────────▶ connected
 *   │  ▲ the trunk failed     │                      │    ▲                     │
 *   └──┴──────────────────────┘                      │    └─────────────────────┤ agent stream lost
 *   │ hang up                 │ hang up              │ hang up                  │ hang up, agent stream stopped
 *   └─────────────────────────┴─────▶ hanging_up ◀───┴──────────────────────────┘
 *                                          │ leg ended (in any phase)
 *                                          ▼
 *                                        ended
 * ```
 *
 * A transfer runs beside these phases, while the agent waits:
 *
 * ```
 *       requested          allowed           peer rejects REFER            target answers
 *  none ────────▶ requested ──────▶ referring ────────────────▶ dialing ──────────────────▶ bridged, without the agent
 *   ▲               │                 │   │                        │                          │ either party hangs up
 *   └───────────────┴─────────────────┴───│──── failed ────────────┘                          ▼
 *                                         └──────────── peer has called the target ─────▶ hanging_up
 * ```
 */
type CallPhase = 'dialing' | 'ringing' | 'connecting' | 'connected' | 'hanging_up' | 'ended';

type TransferPhase = 'none' | 'requested' | 'referring' | 'dialing' | 'bridged';

export interface CallState {
  readonly phase: CallPhase;
  readonly wasAnswered: boolean;
  /** The reason for which we hang up; null unless we do. */
  readonly intent: HangupIntent | null;
  /** Trunks that may still be tried. */
  readonly trunksLeft: number;
  /** Attempts to open the agent stream since it was last open. */
  readonly streamAttempts: number;
  readonly transfer: TransferPhase;
  /** A supervisor speaks in the agent's place. */
  readonly isTakenOver: boolean;
  /** The agent left during a transfer or a takeover; when it would have the call again, the call ends. */
  readonly hasAgentLeft: boolean;
}

export type CallEvent =
  | { readonly type: 'leg_ringing' }
  | { readonly type: 'leg_answered' }
  | { readonly type: 'leg_ended'; readonly end: LegEnd }
  | { readonly type: 'stream_open' }
  /** @property isInternal - The target was one of our voice nodes; another one may be tried. */
  | { readonly type: 'stream_failed'; readonly isInternal: boolean }
  | { readonly type: 'stream_closed'; readonly how: 'stopped' | 'broken' }
  /** The agent sends this command. */
  | { readonly type: 'command'; readonly command: CallCommand }
  /** The peer sent a REFER. */
  | { readonly type: 'peer_transfer'; readonly to: string }
  | { readonly type: 'transfer_referring' }
  /** The peer rejects REFER: the target is being dialed. */
  | { readonly type: 'transfer_dialing' }
  | { readonly type: 'transfer_bridged' }
  /** The peer has called the target, or the bridged target has hung up. */
  | { readonly type: 'transfer_done' }
  | { readonly type: 'transfer_failed' }
  /** A supervisor speaks in the agent's place from now on, or no longer. */
  | { readonly type: 'takeover'; readonly isTakenOver: boolean }
  | { readonly type: 'hang_up'; readonly intent: HangupIntent };

export type CallEffect =
  | { readonly type: 'dial_next' }
  | { readonly type: 'store_status'; readonly status: 'ringing' | 'in_progress' }
  /** Starts the duration limit and the recording. */
  | { readonly type: 'start' }
  | { readonly type: 'open_stream'; readonly afterMs: number }
  /** @property mayDial - True when legs that the project pays for are allowed; never for the peer's own request. */
  | {
      readonly type: 'transfer';
      readonly to: string;
      readonly options?: TransferCommand['options'];
      readonly mayDial: boolean;
    }
  | { readonly type: 'close_stream' }
  | { readonly type: 'send_dtmf'; readonly digits: string }
  /** @property withApology - True to play an apology first. */
  | { readonly type: 'hang_up'; readonly withApology: boolean }
  | { readonly type: 'finish'; readonly result: CallResult };

export interface CallStep {
  readonly state: CallState;
  readonly effects: readonly CallEffect[];
}

/** Growing delays between attempts; after about four seconds of silence callers hang up. */
const STREAM_RETRY_MS: readonly number[] = [0, 200, 500, 1000, 2000];
/**
 * The waits before our own voice nodes are called again. The caller hears a request to hold meanwhile. They last three
 * quarters of a minute, since a busy machine takes half a minute to replace a node.
 */
const INTERNAL_STREAM_RETRY_MS: readonly number[] = [...STREAM_RETRY_MS, ...new Array<number>(20).fill(2000)];

export const outboundCall = (trunks: number): CallState => ({
  phase: 'dialing',
  wasAnswered: false,
  intent: null,
  trunksLeft: trunks - 1,
  streamAttempts: 0,
  transfer: 'none',
  isTakenOver: false,
  hasAgentLeft: false,
});

export const inboundCall = (): CallState => outboundCall(1);

/** Decides the next step of a call. Pure; {@link LiveCall} carries the effects out in their order. */
export function transitionCall(state: CallState, event: CallEvent): CallStep {
  if (state.phase === 'ended') return unchanged(state);
  switch (event.type) {
    case 'leg_ringing':
      if (state.phase !== 'dialing') return unchanged(state);
      return {
        state: { ...state, phase: 'ringing' },
        effects: [{ type: 'store_status', status: 'ringing' }],
      };
    case 'leg_answered':
      return answer(state);
    case 'leg_ended':
      return legEnded(state, event.end);
    case 'stream_open':
      return streamOpen(state);
    case 'stream_failed':
      return retryStream(state, event.isInternal);
    case 'stream_closed':
      return streamClosed(state, event.how);
    case 'command':
      return runCommand(state, event.command);
    case 'peer_transfer':
      return transfer(state, event.to, false);
    case 'transfer_referring':
      return unchanged({ ...state, transfer: 'referring' });
    case 'transfer_dialing':
      return unchanged({ ...state, transfer: 'dialing' });
    case 'transfer_bridged':
      return bridged(state);
    case 'transfer_done':
      return hangUp({ ...state, transfer: 'none' }, 'transferred');
    case 'transfer_failed':
      return transferFailed(state);
    case 'takeover':
      return takeover(state, event.isTakenOver);
    case 'hang_up':
      return hangUp(state, event.intent);
  }
}

/** Returns true when there is an answered call to transfer or to command. */
export const isAnswered = ({ phase }: CallState): boolean => phase === 'connecting' || phase === 'connected';

const unchanged = (state: CallState): CallStep => ({ state, effects: [] });

function answer(state: CallState): CallStep {
  // The answer crossed our CANCEL: the leg hangs up by itself.
  if (state.phase === 'hanging_up') return unchanged({ ...state, wasAnswered: true });
  if (state.wasAnswered) return unchanged(state);
  return {
    state: { ...state, phase: 'connecting', wasAnswered: true, streamAttempts: 1 },
    effects: [
      { type: 'store_status', status: 'in_progress' },
      { type: 'start' },
      { type: 'open_stream', afterMs: 0 },
    ],
  };
}

function legEnded(state: CallState, end: LegEnd): CallStep {
  const { wasAnswered, intent, trunksLeft } = state;
  if (!wasAnswered && intent === null && trunksLeft > 0 && mayTryNextTrunk(end)) {
    const next: CallState = { ...state, phase: 'dialing', trunksLeft: trunksLeft - 1 };
    return { state: next, effects: [{ type: 'dial_next' }] };
  }
  // A peer that was sent a REFER may hang up before its NOTIFY; a bridged peer takes the other party with it.
  const isTransferred = state.transfer === 'referring' || state.transfer === 'bridged';
  const reason = intent ?? (isTransferred && end.outcome === 'remote_hangup' ? 'transferred' : null);
  // An answer that crossed our CANCEL does not count.
  const result = callResultOf(end, wasAnswered && end.outcome !== 'canceled', reason);
  return { state: { ...state, phase: 'ended', intent: reason }, effects: [{ type: 'finish', result }] };
}

function bridged(state: CallState): CallStep {
  if (!isAnswered(state)) return unchanged(state);
  return {
    state: { ...state, phase: 'connected', transfer: 'bridged' },
    effects: [{ type: 'close_stream' }],
  };
}

function transferFailed(state: CallState): CallStep {
  return withAgent({ ...state, transfer: 'none' });
}

function takeover(state: CallState, isTakenOver: boolean): CallStep {
  return withAgent({ ...state, isTakenOver });
}

/** Returns the call to the agent. When the agent has left meanwhile, the call ends. */
function withAgent(state: CallState): CallStep {
  const isBack = state.transfer === 'none' && !state.isTakenOver;
  return isBack && state.hasAgentLeft ? hangUp(state, 'agent_hangup') : unchanged(state);
}

function streamOpen(state: CallState): CallStep {
  // The stream was still opening when the caller was bridged with the transfer target.
  if (state.transfer === 'bridged') return { state, effects: [{ type: 'close_stream' }] };
  if (state.phase !== 'connecting') return unchanged(state);
  return unchanged({ ...state, phase: 'connected', streamAttempts: 0 });
}

/** An agent that has requested a transfer may stop its stream before the outcome is known. */
function streamClosed(state: CallState, how: 'stopped' | 'broken'): CallStep {
  if (how === 'broken') return retryStream(state, true);
  if (state.transfer === 'bridged') return unchanged(state);
  if (state.transfer !== 'none' || state.isTakenOver) return unchanged({ ...state, hasAgentLeft: true });
  return hangUp(state, 'agent_hangup');
}

function retryStream(state: CallState, isInternal: boolean): CallStep {
  if (!isAnswered(state) || state.transfer === 'bridged') return unchanged(state);
  const afterMs = (isInternal ? INTERNAL_STREAM_RETRY_MS : STREAM_RETRY_MS)[state.streamAttempts];
  if (afterMs === undefined && state.isTakenOver) return unchanged({ ...state, hasAgentLeft: true });
  if (afterMs === undefined) {
    return isInternal ? hangUp(state, 'agent_error', true) : hangUp(state, 'agent_hangup');
  }
  return {
    state: { ...state, phase: 'connecting', streamAttempts: state.streamAttempts + 1 },
    effects: [{ type: 'open_stream', afterMs }],
  };
}

function runCommand(state: CallState, command: CallCommand): CallStep {
  if (!isAnswered(state)) return unchanged(state);
  switch (command.kind) {
    case 'hangup':
      if (state.isTakenOver) return unchanged({ ...state, hasAgentLeft: true });
      return hangUp(state, intentOf(command.reason));
    case 'send_dtmf':
      return { state, effects: [{ type: 'send_dtmf', digits: command.digits }] };
    case 'transfer':
      return transfer(state, command.to, true, command.options);
    case 'briefing':
    case 'said':
    case 'message_began':
    case 'disclosed':
      // The stream to a transfer target sends the first; the live call takes the others.
      return unchanged(state);
  }
}

function intentOf(reason: HangupReason | undefined): HangupIntent {
  if (reason === 'error') return 'agent_error';
  return reason ?? 'agent_hangup';
}

function transfer(
  state: CallState,
  to: string,
  mayDial: boolean,
  options?: TransferCommand['options'],
): CallStep {
  if (!isAnswered(state) || state.transfer !== 'none') return unchanged(state);
  const effect = { type: 'transfer', to, mayDial, options } as const;
  return { state: { ...state, transfer: 'requested' }, effects: [effect] };
}

/** Hangs up. The first reason counts. */
function hangUp(state: CallState, intent: HangupIntent, withApology = false): CallStep {
  if (state.phase === 'hanging_up') return unchanged(state);
  return { state: { ...state, phase: 'hanging_up', intent }, effects: [{ type: 'hang_up', withApology }] };
}
