import type { CallCommand } from '../../media/agentStream/streamClient.ts';
import type { LegEnd } from '../telephony.ts';
import { type CallResult, callResultOf, type HangupIntent, mayTryNextTrunk } from './callResult.ts';

/**
 * ```
 *              ringing                answered            engine open
 *  dialing ──────────────▶ ringing ──────────────▶ connecting ──────▶ talking
 *   │  ▲ trunk's own trouble  │                      │    ▲            │
 *   └──┴──────────────────────┘                      │    └────────────┤ engine lost
 *   │ hang up                 │ hang up              │ hang up         │ hang up, end of the talk
 *   └─────────────────────────┴───────▶ leaving ◀────┴─────────────────┘
 *                                          │ leg ended (from any state)
 *                                          ▼
 *                                        over
 * ```
 *
 * A transfer goes on beside that, while the engine waits:
 *
 * ```
 *      asked for          allowed            peer takes no REFER            somebody answers
 *  none ────────▶ asked ───────────▶ referring ─────────────────────▶ calling ──────────────────▶ joined, without the engine
 *   ▲               │                 │   │                              │                          │ either side leaves
 *   └───────────────┴─────────────────┴───│────── it failed ─────────────┘                          ▼
 *                                         └───────────────── peer has called elsewhere ─────────▶ leaving
 * ```
 */
export type CallPhase = 'dialing' | 'ringing' | 'connecting' | 'talking' | 'leaving' | 'over';

export type TransferPhase = 'none' | 'asked' | 'referring' | 'calling' | 'joined';

export interface CallState {
  readonly phase: CallPhase;
  readonly wasAnswered: boolean;
  /** Why we hang up; null as long as we do not. */
  readonly intent: HangupIntent | null;
  /** Further trunks that may be tried. */
  readonly trunksLeft: number;
  /** Attempts to reach the engine since it was last open. */
  readonly engineAttempts: number;
  readonly transfer: TransferPhase;
  /** The engine took its leave while a transfer was under way: a call that comes back has nobody to talk to. */
  readonly hasEngineLeft: boolean;
}

export type CallEvent =
  | { readonly type: 'leg_ringing' }
  | { readonly type: 'leg_answered' }
  | { readonly type: 'leg_ended'; readonly end: LegEnd }
  | { readonly type: 'engine_open' }
  /** @property isOurs - One of our own nodes: another one may be reached. */
  | { readonly type: 'engine_failed'; readonly isOurs: boolean }
  | { readonly type: 'engine_closed'; readonly how: 'stopped' | 'broken' }
  | { readonly type: 'command'; readonly command: CallCommand }
  /** The peer asks that the call goes on elsewhere. */
  | { readonly type: 'peer_transfer'; readonly to: string }
  /** The peer is being asked to call elsewhere. */
  | { readonly type: 'referring' }
  /** The peer takes no REFER: a second leg is being called. */
  | { readonly type: 'calling_other' }
  | { readonly type: 'joined' }
  /** The peer has called elsewhere, or whom the caller was joined with has left. */
  | { readonly type: 'transferred' }
  | { readonly type: 'transfer_failed' }
  | { readonly type: 'hang_up'; readonly intent: HangupIntent };

export type CallEffect =
  | { readonly type: 'dial_next' }
  | { readonly type: 'tell'; readonly status: 'ringing' | 'in_progress' }
  /** The answer: limits begin, and the recording. */
  | { readonly type: 'begin' }
  | { readonly type: 'open_engine'; readonly afterMs: number }
  /** @property maySpend - By a second leg too, which the project pays for: never because a stranger wants it. */
  | { readonly type: 'transfer'; readonly to: string; readonly maySpend: boolean }
  | { readonly type: 'leave_engine' }
  | { readonly type: 'send_dtmf'; readonly digits: string }
  /** @property withApology - The caller is told that it is not their fault, as far as there are words. */
  | { readonly type: 'hang_up'; readonly withApology: boolean }
  | { readonly type: 'finish'; readonly result: CallResult };

export interface CallStep {
  readonly state: CallState;
  readonly effects: readonly CallEffect[];
}

/** A caller that hears nothing for longer has hung up; each attempt waits longer than the one before. */
const ENGINE_RETRY_MS: readonly number[] = [0, 200, 500, 1000, 2000];
/** Between our own engines the caller is asked to wait: until a node that was lost has been replaced, if need be. */
const OWN_ENGINE_RETRY_MS: readonly number[] = [...ENGINE_RETRY_MS, 4000, 4000];

export const outboundCall = (trunks: number): CallState => ({
  phase: 'dialing',
  wasAnswered: false,
  intent: null,
  trunksLeft: trunks - 1,
  engineAttempts: 0,
  transfer: 'none',
  hasEngineLeft: false,
});

export const inboundCall = (): CallState => outboundCall(1);

/** Decides what a call does next. Pure; the runner does the effects in their order. */
export function transitionCall(state: CallState, event: CallEvent): CallStep {
  if (state.phase === 'over') return { state, effects: [] };
  switch (event.type) {
    case 'leg_ringing':
      if (state.phase !== 'dialing') return { state, effects: [] };
      return { state: { ...state, phase: 'ringing' }, effects: [{ type: 'tell', status: 'ringing' }] };
    case 'leg_answered':
      return answer(state);
    case 'leg_ended':
      return legEnded(state, event.end);
    case 'engine_open':
      return engineOpen(state);
    case 'engine_failed':
      return reachEngine(state, event.isOurs);
    case 'engine_closed':
      return engineClosed(state, event.how);
    case 'command':
      return obey(state, event.command);
    case 'peer_transfer':
      return transfer(state, event.to, false);
    case 'transferred':
      return hangUp({ ...state, transfer: 'none' }, 'transferred');
    case 'transfer_failed':
      return comeBack(state);
    case 'referring':
      return { state: { ...state, transfer: 'referring' }, effects: [] };
    case 'calling_other':
      return { state: { ...state, transfer: 'calling' }, effects: [] };
    case 'joined':
      return joined(state);
    case 'hang_up':
      return hangUp(state, event.intent);
  }
}

function answer(state: CallState): CallStep {
  // An answer that crosses our CANCEL: the leg hangs up by itself.
  if (state.phase === 'leaving') return { state: { ...state, wasAnswered: true }, effects: [] };
  if (state.wasAnswered) return { state, effects: [] };
  return {
    state: { ...state, phase: 'connecting', wasAnswered: true, engineAttempts: 1 },
    effects: [
      { type: 'tell', status: 'in_progress' },
      { type: 'begin' },
      { type: 'open_engine', afterMs: 0 },
    ],
  };
}

function legEnded(state: CallState, end: LegEnd): CallStep {
  const isOurs = state.intent !== null;
  if (!state.wasAnswered && !isOurs && state.trunksLeft > 0 && mayTryNextTrunk(end)) {
    const next: CallState = { ...state, phase: 'dialing', trunksLeft: state.trunksLeft - 1 };
    return { state: next, effects: [{ type: 'dial_next' }] };
  }
  // Who was asked to call elsewhere hangs up before it has told us that it did.
  const intent =
    state.intent ?? (isHandedOver(state) && end.outcome === 'remote_hangup' ? 'transferred' : null);
  // An answer that crossed our CANCEL was heard by nobody.
  const wasTalked = state.wasAnswered && end.outcome !== 'canceled';
  const result = callResultOf(end, wasTalked, intent);
  return { state: { ...state, phase: 'over', intent }, effects: [{ type: 'finish', result }] };
}

/** By REFER, the peer leaves us when it calls elsewhere; one that is joined leaves us as a whole. */
function isHandedOver({ transfer }: CallState): boolean {
  return transfer === 'referring' || transfer === 'joined';
}

function joined(state: CallState): CallStep {
  if (state.phase !== 'talking' && state.phase !== 'connecting') return { state, effects: [] };
  return {
    state: { ...state, phase: 'talking', transfer: 'joined' },
    effects: [{ type: 'leave_engine' }],
  };
}

function comeBack(state: CallState): CallStep {
  const back: CallState = { ...state, transfer: 'none' };
  return state.hasEngineLeft ? hangUp(back, 'agent_hangup') : { state: back, effects: [] };
}

function engineOpen(state: CallState): CallStep {
  // It was on its way when the caller was joined with somebody else.
  if (state.transfer === 'joined') return { state, effects: [{ type: 'leave_engine' }] };
  if (state.phase !== 'connecting') return { state, effects: [] };
  return { state: { ...state, phase: 'talking', engineAttempts: 0 }, effects: [] };
}

/** One that has handed the caller over may leave before it is known how that goes. */
function engineClosed(state: CallState, how: 'stopped' | 'broken'): CallStep {
  if (how === 'broken') return reachEngine(state, true);
  if (state.transfer === 'joined') return { state, effects: [] };
  if (state.transfer !== 'none') return { state: { ...state, hasEngineLeft: true }, effects: [] };
  return hangUp(state, 'agent_hangup');
}

/** Tries again, and gives the call up when a person would have. */
function reachEngine(state: CallState, isOurs: boolean): CallStep {
  if (state.phase !== 'connecting' && state.phase !== 'talking') return { state, effects: [] };
  if (state.transfer === 'joined') return { state, effects: [] };
  const afterMs = (isOurs ? OWN_ENGINE_RETRY_MS : ENGINE_RETRY_MS)[state.engineAttempts];
  if (afterMs === undefined) return isOurs ? hangUp(state, 'node_lost', true) : hangUp(state, 'agent_hangup');
  return {
    state: { ...state, phase: 'connecting', engineAttempts: state.engineAttempts + 1 },
    effects: [{ type: 'open_engine', afterMs }],
  };
}

function obey(state: CallState, command: CallCommand): CallStep {
  if (state.phase !== 'talking' && state.phase !== 'connecting') return { state, effects: [] };
  switch (command.kind) {
    case 'hangup':
      return hangUp(state, 'agent_hangup');
    case 'send_dtmf':
      return { state, effects: [{ type: 'send_dtmf', digits: command.digits }] };
    case 'transfer':
      return transfer(state, command.to, true);
  }
}

function transfer(state: CallState, to: string, maySpend: boolean): CallStep {
  const isTalking = state.phase === 'talking' || state.phase === 'connecting';
  if (!isTalking || state.transfer !== 'none') return { state, effects: [] };
  return { state: { ...state, transfer: 'asked' }, effects: [{ type: 'transfer', to, maySpend }] };
}

/** The first reason counts. */
function hangUp(state: CallState, intent: HangupIntent, withApology = false): CallStep {
  if (state.phase === 'leaving') return { state, effects: [] };
  return { state: { ...state, phase: 'leaving', intent }, effects: [{ type: 'hang_up', withApology }] };
}
