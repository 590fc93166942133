import type { HangupReason, LegEnd } from '../../calls/telephony.ts';
import { Q850 } from '../sip/q850.ts';
import { type FailureResponse, legEndOf, TRUNK_ERROR, UNREACHABLE } from './inviteFailure.ts';

/**
 * The states of a leg.
 *
 * ```
 *  outbound                                                   inbound
 *  preparing ── prepared ──► inviting ── accepted ──► connecting ◄── acknowledged ── awaitingAck
 *      │                        │                        │                              │
 *      │              hangup, timeouts               connected                          │
 *      │                        ▼                        ▼                              │
 *      │                    canceling               established                         │
 *      │                        │                        │ hangup                       │
 *      │                        │                        ▼                              │
 *      │                        │                    terminating                        │
 *      └────────────────────────┴──────► terminated ◄────┴──────────────────────────────┘
 * ```
 */
export type LegState =
  /** A port for the audio is being reserved. */
  | { readonly kind: 'preparing' }
  | { readonly kind: 'inviting'; readonly hasRung: boolean; readonly hasEarlyMedia: boolean }
  /** The leg has sent CANCEL. */
  | { readonly kind: 'canceling'; readonly end: LegEnd }
  /** Our 200 is sent; a hangup waits for its ACK too. @see RFC 3261 section 15 */
  | { readonly kind: 'awaitingAck'; readonly hangup?: HangupReason }
  /** The dialog is confirmed; the audio is being connected. */
  | { readonly kind: 'connecting' }
  | { readonly kind: 'established' }
  /** The leg has sent BYE. */
  | { readonly kind: 'terminating'; readonly end: LegEnd }
  | { readonly kind: 'terminated' };

export type LegEvent =
  | { readonly kind: 'prepared' }
  | { readonly kind: 'ringing'; readonly hasEarlyMedia: boolean }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly response: FailureResponse }
  /** No response at all within the trunk's timeout. */
  | { readonly kind: 'responseTimeout' }
  | { readonly kind: 'ringTimeout' }
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'connected' }
  /** The INVITE could not be sent, or the audio could not be negotiated or connected. */
  | { readonly kind: 'failed'; readonly isUnreachable?: boolean; readonly reason?: string | undefined }
  | { readonly kind: 'hangup'; readonly reason: HangupReason }
  | { readonly kind: 'byeReceived'; readonly q850Cause: number | undefined }
  /** BYE was answered, or the wait for the response to BYE or CANCEL timed out. */
  | { readonly kind: 'completed' }
  /** The dialog is gone without a BYE from either side. */
  | { readonly kind: 'dialogLost' };

export type LegEffect =
  /** Sends the INVITE and starts the response timers. */
  | { readonly kind: 'sendInvite' }
  | { readonly kind: 'sendCancel'; readonly reason: HangupReason }
  | { readonly kind: 'connectAudio' }
  | { readonly kind: 'sendBye'; readonly reason: HangupReason }
  | { readonly kind: 'emitRinging'; readonly hasEarlyMedia: boolean }
  | { readonly kind: 'emitAnswered' }
  /** Starts the timer after which a leg that is to hang up ends without an ACK. */
  | { readonly kind: 'limitAckWait' }
  | { readonly kind: 'end'; readonly end: LegEnd };

export interface LegTransition {
  readonly state: LegState;
  readonly effects: readonly LegEffect[];
}

const TERMINATED: LegState = { kind: 'terminated' };
const OK = { code: 200, reason: 'OK' };
const NO_ANSWER: HangupReason = { q850Cause: Q850.noAnswer, text: 'No answer in time' };
const NO_RESPONSE: HangupReason = { q850Cause: Q850.recoveryOnTimer, text: 'No response in time' };

/** @see LegState */
export function legTransition(state: LegState, event: LegEvent): LegTransition {
  switch (state.kind) {
    case 'preparing':
      return whilePreparing(state, event);
    case 'inviting':
      return whileInviting(state, event);
    case 'canceling':
      return whileCanceling(state, event);
    case 'awaitingAck':
      return whileAwaitingAck(state, event);
    case 'connecting':
    case 'established':
      return whileConfirmed(state, event);
    case 'terminating':
      return event.kind === 'completed' || event.kind === 'byeReceived' || event.kind === 'dialogLost'
        ? end(state.end)
        : stay(state);
    case 'terminated':
      return stay(state);
  }
}

function whilePreparing(state: LegState, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'prepared':
      return {
        state: { kind: 'inviting', hasRung: false, hasEarlyMedia: false },
        effects: [{ kind: 'sendInvite' }],
      };
    case 'failed':
      return end(TRUNK_ERROR);
    case 'hangup':
      return end({ outcome: 'canceled', sip: null, q850Cause: event.reason.q850Cause });
    default:
      return stay(state);
  }
}

function whileInviting(state: LegState & { kind: 'inviting' }, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'ringing':
      return ring(state, event.hasEarlyMedia);
    case 'accepted':
      return { state: { kind: 'connecting' }, effects: [{ kind: 'connectAudio' }] };
    case 'rejected':
      return end(legEndOf(event.response, state.hasRung));
    case 'hangup':
      return cancel(event.reason, { outcome: 'canceled', sip: null, q850Cause: event.reason.q850Cause });
    case 'ringTimeout':
      return cancel(NO_ANSWER, { outcome: 'no_answer', sip: null, q850Cause: NO_ANSWER.q850Cause });
    case 'responseTimeout':
      // Ends at once, so that the next trunk is tried without waiting for the response to CANCEL.
      return {
        state: TERMINATED,
        effects: [
          { kind: 'sendCancel', reason: NO_RESPONSE },
          { kind: 'end', end: UNREACHABLE },
        ],
      };
    case 'failed':
      return end(event.isUnreachable ? UNREACHABLE : TRUNK_ERROR);
    case 'dialogLost':
      // The phone may still ring, so the number must not be called again over another trunk.
      return end({ outcome: 'lost', sip: null, q850Cause: null });
    default:
      return stay(state);
  }
}

/** Emitted once, and again when early media starts. */
function ring(state: LegState & { kind: 'inviting' }, hasEarlyMedia: boolean): LegTransition {
  if (state.hasRung && (state.hasEarlyMedia || !hasEarlyMedia)) return stay(state);
  return {
    state: { kind: 'inviting', hasRung: true, hasEarlyMedia },
    effects: [{ kind: 'emitRinging', hasEarlyMedia }],
  };
}

function whileCanceling(state: LegState & { kind: 'canceling' }, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'rejected': {
      const { status, reason, isFromPeer } = event.response;
      return end(isFromPeer ? { ...state.end, sip: { code: status, reason } } : state.end);
    }
    case 'completed':
    case 'failed':
    case 'dialogLost':
      return end(state.end);
    default:
      return stay(state);
  }
}

function whileAwaitingAck(state: LegState & { kind: 'awaitingAck' }, event: LegEvent): LegTransition {
  switch (event.kind) {
    case 'acknowledged':
      return state.hangup
        ? hangUp(state.hangup)
        : { state: { kind: 'connecting' }, effects: [{ kind: 'connectAudio' }] };
    case 'hangup':
      return {
        state: { kind: 'awaitingAck', hangup: event.reason },
        effects: state.hangup ? [] : [{ kind: 'limitAckWait' }],
      };
    case 'byeReceived':
      return end({ outcome: 'remote_hangup', sip: OK, q850Cause: event.q850Cause ?? Q850.normalClearing });
    case 'dialogLost':
    case 'failed':
      return end({ outcome: 'lost', sip: OK, q850Cause: null });
    default:
      return stay(state);
  }
}

function whileConfirmed(
  state: LegState & { kind: 'connecting' | 'established' },
  event: LegEvent,
): LegTransition {
  switch (event.kind) {
    case 'connected':
      return state.kind === 'established'
        ? stay(state)
        : { state: { kind: 'established' }, effects: [{ kind: 'emitAnswered' }] };
    case 'failed':
      return failWithoutAudio(event.reason ?? 'No common audio');
    case 'hangup':
      return hangUp(event.reason);
    case 'byeReceived': {
      const { q850Cause = Q850.normalClearing } = event;
      const ended = end({ outcome: 'remote_hangup', sip: OK, q850Cause });
      // A peer that hangs up before the audio is connected has answered the call.
      return state.kind === 'established'
        ? ended
        : { ...ended, effects: [{ kind: 'emitAnswered' }, ...ended.effects] };
    }
    case 'dialogLost':
      return end({ outcome: 'lost', sip: OK, q850Cause: null });
    default:
      return stay(state);
  }
}

function failWithoutAudio(text: string): LegTransition {
  const reason = { q850Cause: Q850.incompatible, text };
  const { q850Cause } = reason;
  const legEnd: LegEnd = { outcome: 'trunk_error', sip: { code: OK.code, reason: text }, q850Cause };
  return { state: { kind: 'terminating', end: legEnd }, effects: [{ kind: 'sendBye', reason }] };
}

function hangUp(reason: HangupReason): LegTransition {
  return {
    state: { kind: 'terminating', end: { outcome: 'local_hangup', sip: OK, q850Cause: reason.q850Cause } },
    effects: [{ kind: 'sendBye', reason }],
  };
}

function cancel(reason: HangupReason, legEnd: LegEnd): LegTransition {
  return { state: { kind: 'canceling', end: legEnd }, effects: [{ kind: 'sendCancel', reason }] };
}

function end(legEnd: LegEnd): LegTransition {
  return { state: TERMINATED, effects: [{ kind: 'end', end: legEnd }] };
}

function stay(state: LegState): LegTransition {
  return { state, effects: [] };
}
