import type { HangupReason, LegEnd } from '../../calls/telephony.ts';
import { Q850 } from '../sip/q850.ts';
import { type FailureResponse, legEndOf, TRUNK_ERROR, UNREACHABLE } from './inviteFailure.ts';

/**
 * The life of a leg.
 *
 * ```
 *  outbound                                             inbound
 *  preparing ── prepared ──► inviting ── accepted ──► joining ◄── acknowledged ── confirming
 *      │                        │                        │                            │
 *      │              hangup, timeouts               connected                        │
 *      │                        ▼                        ▼                            │
 *      │                    canceling                 talking                         │
 *      │                        │                        │ hangup                     │
 *      │                        │                        ▼                            │
 *      │                        │                     leaving                         │
 *      └────────────────────────┴──────► ended ◄─────────┴────────────────────────────┘
 * ```
 */
export type LegState =
  /** A port for its audio is being reserved. */
  | { readonly kind: 'preparing' }
  | { readonly kind: 'inviting'; readonly hasRung: boolean; readonly hasEarlyMedia: boolean }
  /** CANCEL is out; what the end will be is known. */
  | { readonly kind: 'canceling'; readonly end: LegEnd }
  /** Our 200 waits for its ACK; a hangup waits for it too. @see RFC 3261 section 15 */
  | { readonly kind: 'confirming'; readonly hangup?: HangupReason }
  /** Both agree that it is a call; the audio is being connected. */
  | { readonly kind: 'joining' }
  | { readonly kind: 'talking' }
  /** BYE is out. */
  | { readonly kind: 'leaving'; readonly end: LegEnd }
  | { readonly kind: 'ended' };

export type LegEvent =
  | { readonly kind: 'prepared' }
  | { readonly kind: 'ringing'; readonly hasEarlyMedia: boolean }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly refusal: FailureResponse }
  /** Nothing came at all in the trunk's time. */
  | { readonly kind: 'responseTimeout' }
  | { readonly kind: 'ringTimeout' }
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'connected' }
  /** The INVITE could not be sent, or the audio could not be agreed or connected. */
  | { readonly kind: 'failed'; readonly isUnreachable?: boolean }
  | { readonly kind: 'hangup'; readonly reason: HangupReason }
  | { readonly kind: 'peerLeft'; readonly q850Cause: number | undefined }
  /** BYE was answered, or the final answer after CANCEL is too long in coming. */
  | { readonly kind: 'over' }
  /** The dialog is gone without a BYE of either side. */
  | { readonly kind: 'lost' };

export type LegEffect =
  /** Sends the INVITE and starts the timers for its answers. */
  | { readonly kind: 'invite' }
  | { readonly kind: 'cancel'; readonly reason: HangupReason }
  | { readonly kind: 'connect' }
  | { readonly kind: 'bye'; readonly reason: HangupReason }
  | { readonly kind: 'announceRinging'; readonly hasEarlyMedia: boolean }
  | { readonly kind: 'announceAnswered' }
  | { readonly kind: 'end'; readonly end: LegEnd };

export interface LegTransition {
  readonly state: LegState;
  readonly effects: readonly LegEffect[];
}

const ENDED: LegState = { kind: 'ended' };
const OK = { code: 200, reason: 'OK' };
const NO_ANSWER: HangupReason = { q850Cause: Q850.noAnswer, text: 'No answer in time' };
const NO_RESPONSE: HangupReason = { q850Cause: Q850.recoveryOnTimer, text: 'No response in time' };
const NO_COMMON_AUDIO: HangupReason = { q850Cause: Q850.incompatible, text: 'No common audio' };

/** @see LegState */
export function legTransition(state: LegState, event: LegEvent): LegTransition {
  switch (state.kind) {
    case 'preparing':
      return whilePreparing(state, event);
    case 'inviting':
      return whileInviting(state, event);
    case 'canceling':
      return whileCanceling(state, event);
    case 'confirming':
      return whileConfirming(state, event);
    case 'joining':
    case 'talking':
      return whileUp(state, event);
    case 'leaving':
      return event.kind === 'over' || event.kind === 'peerLeft' || event.kind === 'lost'
        ? ended(state.end)
        : same(state);
    case 'ended':
      return same(state);
  }
}

function whilePreparing(state: LegState, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'prepared':
      return {
        state: { kind: 'inviting', hasRung: false, hasEarlyMedia: false },
        effects: [{ kind: 'invite' }],
      };
    case 'failed':
      return ended(TRUNK_ERROR);
    case 'hangup':
      return ended({ outcome: 'canceled', sip: null, q850Cause: event.reason.q850Cause });
    default:
      return same(state);
  }
}

function whileInviting(state: LegState & { kind: 'inviting' }, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'ringing':
      return ring(state, event.hasEarlyMedia);
    case 'accepted':
      return { state: { kind: 'joining' }, effects: [{ kind: 'connect' }] };
    case 'refused':
      return ended(legEndOf(event.refusal, state.hasRung));
    case 'hangup':
      return cancel(event.reason, { outcome: 'canceled', sip: null, q850Cause: event.reason.q850Cause });
    case 'ringTimeout':
      return cancel(NO_ANSWER, { outcome: 'no_answer', sip: null, q850Cause: NO_ANSWER.q850Cause });
    case 'responseTimeout':
      // The next trunk is not kept waiting for a silent one.
      return {
        state: ENDED,
        effects: [
          { kind: 'cancel', reason: NO_RESPONSE },
          { kind: 'end', end: UNREACHABLE },
        ],
      };
    case 'failed':
      return ended(event.isUnreachable ? UNREACHABLE : TRUNK_ERROR);
    case 'lost':
      // The phone may ring for all that is known: it is not called again over another trunk.
      return ended({ outcome: 'lost', sip: null, q850Cause: null });
    default:
      return same(state);
  }
}

/** Said once, and once more when the peer begins to play audio. */
function ring(state: LegState & { kind: 'inviting' }, hasEarlyMedia: boolean): LegTransition {
  if (state.hasRung && (state.hasEarlyMedia || !hasEarlyMedia)) return same(state);
  return {
    state: { kind: 'inviting', hasRung: true, hasEarlyMedia },
    effects: [{ kind: 'announceRinging', hasEarlyMedia }],
  };
}

function whileCanceling(state: LegState & { kind: 'canceling' }, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'refused': {
      const { status, reason, isFromPeer } = event.refusal;
      return ended(isFromPeer ? { ...state.end, sip: { code: status, reason } } : state.end);
    }
    case 'over':
    case 'failed':
    case 'lost':
      return ended(state.end);
    default:
      return same(state);
  }
}

function whileConfirming(state: LegState & { kind: 'confirming' }, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'acknowledged':
      return state.hangup
        ? leave(state.hangup)
        : { state: { kind: 'joining' }, effects: [{ kind: 'connect' }] };
    case 'hangup':
      return { state: { kind: 'confirming', hangup: event.reason }, effects: [] };
    case 'peerLeft':
      return ended({ outcome: 'remote_hangup', sip: OK, q850Cause: event.q850Cause ?? Q850.normalClearing });
    case 'lost':
    case 'failed':
      return ended({ outcome: 'lost', sip: OK, q850Cause: null });
    default:
      return same(state);
  }
}

function whileUp(state: LegState & { kind: 'joining' | 'talking' }, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'connected':
      return state.kind === 'talking'
        ? same(state)
        : { state: { kind: 'talking' }, effects: [{ kind: 'announceAnswered' }] };
    case 'failed':
      return {
        state: { kind: 'leaving', end: { outcome: 'trunk_error', sip: OK, q850Cause: Q850.incompatible } },
        effects: [{ kind: 'bye', reason: NO_COMMON_AUDIO }],
      };
    case 'hangup':
      return leave(event.reason);
    case 'peerLeft': {
      const { q850Cause = Q850.normalClearing } = event;
      const left = ended({ outcome: 'remote_hangup', sip: OK, q850Cause });
      // Who hangs up before the audio is connected has answered nevertheless.
      return state.kind === 'talking'
        ? left
        : { ...left, effects: [{ kind: 'announceAnswered' }, ...left.effects] };
    }
    case 'lost':
      return ended({ outcome: 'lost', sip: OK, q850Cause: null });
    default:
      return same(state);
  }
}

function leave(reason: HangupReason): LegTransition {
  return {
    state: { kind: 'leaving', end: { outcome: 'local_hangup', sip: OK, q850Cause: reason.q850Cause } },
    effects: [{ kind: 'bye', reason }],
  };
}

function cancel(reason: HangupReason, end: LegEnd): LegTransition {
  return { state: { kind: 'canceling', end }, effects: [{ kind: 'cancel', reason }] };
}

function ended(end: LegEnd): LegTransition {
  return { state: ENDED, effects: [{ kind: 'end', end }] };
}

function same(state: LegState): LegTransition {
  return { state, effects: [] };
}
