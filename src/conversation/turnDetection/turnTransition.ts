import { askAgain } from './callerTurn.ts';
import { onDtmfDigit, onDtmfEntry } from './dtmf.ts';
import { onFrame } from './onFrame.ts';
import { onFinishedInput, onGatewayInterrupted } from './onGateway.ts';
import { onTurnSignal } from './onListening.ts';
import { onTranscript, onTranscriptionFailed } from './onTranscript.ts';
import { settlePreemptiveTurn } from './preemptiveTurn.ts';
import { enterPhase, startTurn, type TurnStep, withoutEffects, withoutTranscript } from './steps.ts';
import type { TurnContext, TurnEffect, TurnEvent, TurnState } from './turnState.ts';

/** An answer given over the agent's last words counts when it ended at most this long before them. */
const EARLY_ANSWER_MS = 1000;

/**
 * Turn detection: whose turn it is, and when the agent starts, pauses or stops. Pure; the effects are performed by the
 * channel. In place of audio, a text stream's gateway sends finished and partial words, and tells of interruptions.
 *
 * ```text
 *           speech                end of turn               first sample
 *   idle ───────────▶ listening ──────────────▶ thinking ───────────────▶ speaking ──┐
 *    ▲                 ▲  ▲  ▲                     │                    speech │  ▲     │ answer
 *    │ no words        │  │  └────── speech ───────┘                           ▼  │     │ played
 *    ├─────────────────┘  │      (turn cancelled)                           paused     │
 *    │                    │                                                 │   │      │
 *    │                    └── words, long speech (interruption) ────────────┘   │      │
 *    │                              backchannel, noise (false interruption) ────┘      │
 *    └─────────────────────────────────────────────────────────────────────────────────┘
 *   within thinking, an answer that is ready is held while the caller makes a sound, before that is known to be speech
 *
 *   answering machine: any ──▶ suspended ──it records──▶ thinking     end: any ──▶ ended
 *                                        ──it is none──▶ listening
 *   transfer:          any ──▶ suspended ──it fails────▶ thinking
 *   takeover:          any ──▶ suspended ──it ends─────▶ thinking
 *   pause or stop:     thinking, speaking, paused ──▶ listening or idle; during a pause, what the caller says is stored
 *
 *   within listening, a preemptive turn, of which nothing is played and nothing kept:
 *
 *            probable end                    end of turn on the same words
 *     none ───────────────▶ runs, unheard ──────────────────────────────────▶ committed (thinking)
 *      ▲                          │
 *      └──────────────────────────┘
 *        speech, other words, anything else: cancelled
 * ```
 */
export function turnTransition(state: TurnState, event: TurnEvent, context: TurnContext): TurnStep {
  return settlePreemptiveTurn(step(state, event, context));
}

function step(state: TurnState, event: TurnEvent, context: TurnContext): TurnStep {
  if (state.phase === 'ended') return withoutEffects(state);
  switch (event.type) {
    case 'frame':
      return onFrame(state, context);
    case 'transcript':
      return onTranscript(state, event, context);
    case 'transcription_failed':
      return onTranscriptionFailed(state, event.message, context);
    case 'late_words':
      return onLateWords(state, event.text, context);
    case 'turn_signal':
      return onTurnSignal(state, event.signal, context);
    case 'dtmf_digit':
      return onDtmfDigit(state, context);
    case 'dtmf_entry':
      if (!context.gateway) return onDtmfEntry(state, event.digits, context);
      return onFinishedInput(state, { pendingDigits: { digits: event.digits, atMs: context.atMs } }, context);
    case 'finished_text':
      return onFinishedInput(state, { transcript: event.text }, context);
    case 'partial_text':
      // A silence begins anew, as does the wait for the rest of a question.
      if (state.phase !== 'idle' && state.phase !== 'listening') return withoutEffects(state);
      return withoutEffects({ ...state, sinceMs: context.atMs });
    case 'gateway_interrupted':
      return onGatewayInterrupted(state, event.heard, context);
    case 'agent_started_speaking':
      return state.phase === 'thinking' ? onAgentStarted(state, context) : withoutEffects(state);
    case 'agent_turn_ended':
      return onAgentTurnEnded(state, context);
    case 'agent_turn_started':
      return withoutEffects(enterPhase({ ...state, silentSinceMs: undefined }, 'thinking', context));
    case 'transfer_started':
      if (!event.isByAgent) return suspend(state, context);
      return withoutEffects(enterPhase(withoutTranscript(state), 'suspended', context));
    case 'taken_over':
      return suspend(state, context);
    case 'agent_stopped':
      return onAgentStopped(state, context);
    case 'machine_detected':
      return {
        state: enterPhase({ ...withoutTranscript(state), keptText: '' }, 'suspended', context),
        effects: stopAgentIn(state),
      };
    case 'machine_refuted':
      if (state.phase !== 'suspended') return withoutEffects(state);
      return withoutEffects(enterPhase(state, context.utterance ? 'listening' : 'idle', context));
    case 'machine_recording':
      if (state.phase !== 'suspended') return withoutEffects(state);
      return startTurn(state, { kind: 'voicemail', evidence: event.evidence }, context);
    case 'session_ending':
      return withoutEffects(enterPhase(state, 'ended', context));
  }
}

/** A sample that was on its way when the answer was held makes it a paused one. */
function onAgentStarted(state: TurnState, context: TurnContext): TurnStep {
  const started = { ...state, carriedText: '', agentStartedMs: context.atMs };
  const { pendingDigits, ...speaking } = enterPhase(started, state.isHeld ? 'paused' : 'speaking', context);
  const next = { ...speaking, pendingDigits: undefined };
  return pendingDigits ? onDtmfEntry(next, pendingDigits.digits, context) : withoutEffects(next);
}

function onAgentTurnEnded(state: TurnState, context: TurnContext): TurnStep {
  if (state.phase !== 'speaking' && state.phase !== 'thinking') return withoutEffects(state);
  const { earlyAnswer, pendingDigits, keptText } = state;
  const next = { ...state, carriedText: '', earlyAnswer: undefined, pendingDigits: undefined, keptText: '' };
  if (pendingDigits) {
    const input = { kind: 'dtmf', digits: pendingDigits.digits } as const;
    return startTurn(next, input, context, { unansweredText: keptText });
  }
  if (context.utterance)
    return withoutEffects(enterPhase({ ...next, carriedText: keptText }, 'listening', context));
  if (keptText !== '') return startTurn(next, { kind: 'user_message', text: keptText }, context);
  if (earlyAnswer && context.atMs - earlyAnswer.endMs <= EARLY_ANSWER_MS) {
    const { text } = earlyAnswer;
    if (text === '') return askAgain(next, { why: 'no_words' }, context);
    return startTurn({ ...next, silences: 0, reprompts: 0 }, { kind: 'user_message', text }, context);
  }
  return withoutEffects(enterPhase(next, 'idle', context));
}

/** The agent loses the call in the middle of what it does. */
function suspend(state: TurnState, context: TurnContext): TurnStep {
  return {
    state: enterPhase(withoutTranscript(state), 'suspended', context),
    effects: [{ type: 'stop_agent' }, { type: 'discard_utterance' }],
  };
}

/** The agent falls silent; the caller is still listened to. */
function onAgentStopped(state: TurnState, context: TurnContext): TurnStep {
  if (state.phase === 'listening' || state.phase === 'idle')
    return { state: { ...state, preemptiveText: undefined }, effects: [{ type: 'cancel_preemptive_turn' }] };
  if (state.phase === 'suspended') return withoutEffects(state);
  const { state: next, effects } = onAgentTurnEnded({ ...state, phase: 'speaking' }, context);
  return { state: next, effects: [{ type: 'stop_agent' }, ...effects] };
}

/** Answers late words, in place of what the agent asks meanwhile. */
function onLateWords(state: TurnState, text: string, context: TurnContext): TurnStep {
  // After disclosures the pathway begins in place of a request to repeat.
  const isAsking = context.answering === 'not_understood' || context.answering === 'begin';
  if (context.utterance || (state.phase !== 'idle' && !isAsking)) return withoutEffects(state);
  const answered = { ...state, silences: 0, reprompts: 0 };
  const { state: next, effects } = startTurn(answered, { kind: 'user_message', text }, context);
  return { state: next, effects: [...stopAgentIn(state), ...effects] };
}

function stopAgentIn({ phase }: TurnState): readonly TurnEffect[] {
  if (phase === 'speaking' || phase === 'paused') return [{ type: 'interrupt_agent' }];
  return phase === 'thinking' ? [{ type: 'cancel_turn' }] : [];
}
