import type { TurnInput } from '../conversation/turn.ts';
import type { Utterance } from './callerActivity.ts';
import type { FloorContext, FloorEffect, FloorEvent, FloorPhase, FloorState } from './floorState.ts';
import { NOT_UNDERSTOOD, TRANSCRIPTION_FAILED } from './ownWords.ts';

/** Silence after which it is worth asking for the words: most pauses that are no end are shorter. */
const ASK_AFTER_MS = 200;
/** Speech that takes a turn back of which nothing was heard yet. */
const TAKE_BACK_MS = 240;
/** On top of what stops the agent: who speaks for so long means it, whatever it is. */
const CONFIRM_MS = 500;
/** A stopped agent waits for words at most so long once the caller is silent again. */
const VERDICT_MS = 2500;
/** Voice without words that was long enough to ask for it again. */
const UNHEARD_MS = 700;
const MOST_PARDONS = 2;
/** An answer given while the agent's last words sounded counts, if it ended so shortly before them. */
const LATE_ANSWER_MS = 1000;
/** Nobody speaks for so long without a pause; music and noise do. */
const LONGEST_UTTERANCE_MS = 45_000;
/** Voice that it takes until it is known for voice. */
const ONSET_MS = 60;

interface Step {
  readonly state: FloorState;
  readonly effects: readonly FloorEffect[];
}

/**
 * Who has the floor.
 *
 * ```text
 *            speech              words, silence            first sample
 *   quiet ───────────▶ hearing ─────────────────▶ thinking ────────────▶ speaking ──┐
 *     ▲                 ▲  ▲ ▲                       │                    │    ▲    │ all sounded
 *     │ no words        │  │ └───── speech ──────────┘            speech  │    │    │
 *     ├─────────────────┘  │       (turn taken back)                      ▼    │    │
 *     │                    └───────── words, long speech ─────────────── held ─┘    │
 *     │                                    (cut)               "mm-hm", noise       │
 *     └─────────────────────────────────────────────────────────────────────────────┘
 *   a machine: any ──▶ waiting ──its tone──▶ thinking          the end: any ──▶ over
 *   handed over: any ──▶ waiting ──it did not come to that──▶ thinking
 * ```
 */
export function transition(state: FloorState, event: FloorEvent, context: FloorContext): Step {
  if (state.phase === 'over') return stay(state);
  switch (event.type) {
    case 'frame':
      return onFrame(state, context);
    case 'words':
      return onWords(state, event, context);
    case 'words_failed':
      return onWordsFailed(state, event.message, context);
    case 'key':
      return onKey(state, context);
    case 'keys':
      return onKeys(state, event.digits, context);
    case 'sounding':
      return state.phase === 'thinking'
        ? stay(enter({ ...state, carried: '' }, 'speaking', context))
        : stay(state);
    case 'answered':
      return onAnswered(state, context);
    case 'handing_over':
      return {
        state: enter(fresh(state), 'waiting', context),
        effects: event.isByAgent ? [] : [{ type: 'leave' }, { type: 'forget_utterance' }],
      };
    case 'rethinking':
      return stay(enter(state, 'thinking', context));
    case 'machine':
      return {
        state: { ...fresh(state), phase: 'waiting', sinceMs: context.atMs },
        effects: stopAgent(state),
      };
    case 'recording':
      if (state.phase !== 'waiting') return stay(state);
      return takeTurn(state, { kind: 'voicemail', evidence: event.evidence }, context);
    case 'ending':
      return { state: enter(state, 'over', context), effects: [] };
  }
}

function onFrame(state: FloorState, context: FloorContext): Step {
  const { utterance } = context;
  if (!utterance) return onNothingHeard(state, context);
  const followed = followUtterance(state, utterance, context);
  const next = byPhase(followed.state, utterance, context);
  return { state: next.state, effects: [...followed.effects, ...next.effects] };
}

/** There is no speech, or what seemed to be speech was the line's noise or the agent's echo. */
function onNothingHeard(state: FloorState, context: FloorContext): Step {
  switch (state.phase) {
    case 'quiet':
      return onSilence(state, context);
    case 'hearing':
      return state.carried === '' ? backToQuiet(state, context) : conclude({ ...state, words: '' }, context);
    case 'held':
      return resumed(state, undefined, context);
    default:
      return stay(state);
  }
}

/** Notices that the caller went on after words had been asked for: these are not all. */
function followUtterance(state: FloorState, utterance: Utterance, context: FloorContext): Step {
  const { askedToMs } = state;
  if (askedToMs === undefined || utterance.lastVoicedMs <= askedToMs) return stay(state);
  if (isEndless(utterance, context)) return stay(state);
  return {
    state: fresh(state),
    effects: [{ type: 'went_on', pauseMs: utterance.lastVoicedMs - askedToMs - ONSET_MS }],
  };
}

function byPhase(state: FloorState, utterance: Utterance, context: FloorContext): Step {
  const { atMs, policy } = context;
  const silenceMs = atMs - utterance.lastVoicedMs;
  switch (state.phase) {
    case 'quiet':
      return stay(enter(state, 'hearing', context));
    case 'hearing':
      return onHearing(state, utterance, context);
    case 'thinking':
      if (context.answering === 'words' && utterance.voicedMs >= TAKE_BACK_MS) {
        return { state: enter(state, 'hearing', context), effects: [{ type: 'take_back' }] };
      }
      return silenceMs >= policy.minPauseMs ? forget(state) : stay(state);
    case 'speaking':
      return onSpokenOver(state, utterance, context);
    case 'held':
      return onHeld(state, utterance, context);
    default:
      return stay(state);
  }
}

/** The caller speaks while the agent does. */
function onSpokenOver(state: FloorState, utterance: Utterance, context: FloorContext): Step {
  const { interruptible, interruptAfterMs } = context.policy;
  if (interruptible && utterance.voicedMs >= interruptAfterMs) {
    return { state: enter(state, 'held', context), effects: [{ type: 'hold' }] };
  }
  const isShort = context.atMs - utterance.lastVoicedMs >= ASK_AFTER_MS;
  if (!isShort || state.askedToMs !== undefined) return stay(state);
  return interruptible ? ask(state, context) : forget(state);
}

/** The agent has stopped, and waits to know whether the caller means it. */
function onHeld(state: FloorState, utterance: Utterance, context: FloorContext): Step {
  const silenceMs = context.atMs - utterance.lastVoicedMs;
  const isAsked = state.askedToMs !== undefined;
  const isMeant = utterance.voicedMs >= context.policy.interruptAfterMs + CONFIRM_MS;
  if (isMeant || (isAsked && silenceMs >= VERDICT_MS)) return cutIn(state, context);
  return silenceMs >= ASK_AFTER_MS && !isAsked ? ask(state, context) : stay(state);
}

function onHearing(state: FloorState, utterance: Utterance, context: FloorContext): Step {
  const silenceMs = context.atMs - utterance.lastVoicedMs;
  const mustEnd = isEndless(utterance, context);
  const isAsked = state.askedToMs !== undefined;
  if (!isAsked && (silenceMs >= ASK_AFTER_MS || mustEnd)) return ask({ ...state, isEnded: mustEnd }, context);
  const isEnded = state.isEnded || (isAsked && silenceMs >= context.endPauseMs());
  const next = { ...state, isEnded };
  return isEnded && state.words !== undefined ? conclude(next, context) : stay(next);
}

function isEndless({ startMs }: Utterance, { atMs }: FloorContext): boolean {
  return atMs - startMs >= LONGEST_UTTERANCE_MS;
}

function onSilence(state: FloorState, context: FloorContext): Step {
  const { silenceAfterMs, hangupAfter } = context.policy;
  if (context.isOnHold) return stay(enter(state, 'quiet', context));
  const durationMs = context.atMs - state.sinceMs;
  if (durationMs < silenceAfterMs) return stay(state);
  const silences = state.silences + 1;
  const isLast = hangupAfter > 0 && silences > hangupAfter;
  const step = takeTurn({ ...state, silences }, { kind: 'silence', durationMs }, context);
  return isLast
    ? {
        state: step.state,
        effects: step.effects.map((effect) => (effect.type === 'take_turn' ? { ...effect, isLast } : effect)),
      }
    : step;
}

function onWords(
  state: FloorState,
  { text, isAcknowledgement }: Extract<FloorEvent, { type: 'words' }>,
  context: FloorContext,
): Step {
  // The caller has gone on: another question is under way, or will be.
  if (state.askedToMs === undefined || !context.utterance) return stay(state);
  switch (state.phase) {
    case 'hearing': {
      const heard = { ...state, words: text };
      return state.isEnded ? conclude(heard, context) : stay(heard);
    }
    case 'held':
      if (text !== '' && !isAcknowledgement) return cutIn({ ...state, words: text }, context);
      return resumed(state, late(text, context), context);
    case 'speaking':
      if (text !== '' && !isAcknowledgement) return cutIn({ ...state, words: text }, context);
      return {
        state: { ...fresh(state), lateAnswer: late(text, context) },
        effects: [{ type: 'forget_utterance' }],
      };
    default:
      return stay(state);
  }
}

/** The agent goes on: it was stopped by a "mm-hm", noise, or its own echo. */
function resumed(state: FloorState, lateAnswer: FloorState['lateAnswer'], context: FloorContext): Step {
  return {
    state: { ...fresh(enter(state, 'speaking', context)), lateAnswer },
    effects: [{ type: 'forget_utterance' }, { type: 'resume' }],
  };
}

function onWordsFailed(state: FloorState, message: string, context: FloorContext): Step {
  if (state.askedToMs === undefined) return stay(state);
  switch (state.phase) {
    case 'hearing':
      if (state.carried !== '') return conclude({ ...state, words: '' }, context);
      return pardon(state, TRANSCRIPTION_FAILED, message, context);
    case 'held':
      return cutIn(state, context);
    case 'speaking':
      return forget(state);
    default:
      return stay(state);
  }
}

/** What the caller has said, as far as it is known, that no turn has taken. */
export function untakenWords({ phase, carried, words = '' }: FloorState): string {
  return phase === 'hearing' ? [carried, words].filter((part) => part !== '').join(' ') : '';
}

/** The caller's turn is over, and its words are known. */
function conclude(state: FloorState, context: FloorContext): Step {
  const text = [state.carried, state.words ?? ''].filter((part) => part !== '').join(' ');
  if (text !== '') {
    const step = takeTurn({ ...state, silences: 0, pardons: 0 }, { kind: 'words', text }, context);
    return { ...step, state: { ...step.state, carried: text } };
  }
  if ((context.utterance?.voicedMs ?? 0) < UNHEARD_MS) return backToQuiet(state, context);
  return pardon(state, NOT_UNDERSTOOD, 'No words were recognised in what the caller said', context);
}

function pardon(state: FloorState, code: string, message: string, context: FloorContext): Step {
  if (state.pardons >= MOST_PARDONS) return backToQuiet(state, context);
  return takeTurn({ ...state, pardons: state.pardons + 1 }, { kind: 'notice', code, message }, context);
}

function onKey(state: FloorState, context: FloorContext): Step {
  const stops = (state.phase === 'speaking' || state.phase === 'held') && context.policy.interruptible;
  if (stops)
    return {
      state: enter(fresh(state), 'quiet', context),
      effects: [{ type: 'cut' }, { type: 'forget_utterance' }],
    };
  return stay(state.phase === 'quiet' ? { ...state, sinceMs: context.atMs } : state);
}

function onKeys(state: FloorState, digits: string, context: FloorContext): Step {
  const input: TurnInput = { kind: 'dtmf', digits };
  const calm = { ...state, silences: 0, pardons: 0 };
  if (state.phase === 'quiet' || state.phase === 'hearing') return takeTurn(calm, input, context);
  if (state.phase === 'thinking' && context.answering === 'words') {
    const step = takeTurn({ ...calm, carried: '' }, input, context);
    return { state: step.state, effects: [{ type: 'take_back' }, ...step.effects] };
  }
  return stay({ ...calm, keys: digits });
}

function onAnswered(state: FloorState, context: FloorContext): Step {
  if (state.phase !== 'speaking' && state.phase !== 'thinking') return stay(state);
  const { lateAnswer, keys } = state;
  const next = { ...state, carried: '', lateAnswer: undefined, keys: undefined };
  if (keys !== undefined) return takeTurn(next, { kind: 'dtmf', digits: keys }, context);
  if (context.utterance) return stay({ ...next, phase: 'hearing', sinceMs: context.atMs });
  if (lateAnswer && context.atMs - lateAnswer.endMs <= LATE_ANSWER_MS) {
    return takeTurn({ ...next, silences: 0 }, { kind: 'words', text: lateAnswer.text }, context);
  }
  return stay(enter(next, 'quiet', context));
}

function takeTurn(state: FloorState, input: TurnInput, context: FloorContext): Step {
  return {
    state: enter({ ...fresh(state), carried: '' }, 'thinking', context),
    effects: [{ type: 'forget_utterance' }, { type: 'take_turn', input }],
  };
}

function ask(state: FloorState, { utterance }: FloorContext): Step {
  return { state: { ...state, askedToMs: utterance?.lastVoicedMs }, effects: [{ type: 'ask_words' }] };
}

function cutIn(state: FloorState, context: FloorContext): Step {
  return { state: enter(state, 'hearing', context), effects: [{ type: 'cut' }] };
}

function forget(state: FloorState): Step {
  return { state: fresh(state), effects: [{ type: 'forget_utterance' }] };
}

function backToQuiet(state: FloorState, context: FloorContext): Step {
  return { state: enter(fresh(state), 'quiet', context), effects: [{ type: 'forget_utterance' }] };
}

function stopAgent({ phase }: FloorState): readonly FloorEffect[] {
  const forgetIt: FloorEffect = { type: 'forget_utterance' };
  if (phase === 'speaking' || phase === 'held') return [{ type: 'cut' }, forgetIt];
  return phase === 'thinking' ? [{ type: 'take_back' }, forgetIt] : [forgetIt];
}

function late(text: string, { utterance }: FloorContext): FloorState['lateAnswer'] {
  return text === '' || !utterance ? undefined : { text, endMs: utterance.lastVoicedMs };
}

function fresh(state: FloorState): FloorState {
  return { ...state, words: undefined, askedToMs: undefined, isEnded: false };
}

function enter(state: FloorState, phase: FloorPhase, { atMs }: FloorContext): FloorState {
  return { ...state, phase, sinceMs: atMs };
}

function stay(state: FloorState): Step {
  return { state, effects: [] };
}
