import type { Utterance } from '../recognition/speechActivity.ts';
import { conclude, isOwed, onTranscriptionFailed } from './onTranscript.ts';
import {
  ask,
  backToQuiet,
  cutIn,
  enter,
  forget,
  fresh,
  resumed,
  type Step,
  setAside,
  stay,
  takeTurn,
} from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

/** Silence after which it is worth asking for the words: most pauses that are no end are shorter. */
const ASK_AFTER_MS = 200;
/** Speech that takes a turn back of which nothing was heard yet, or stops one that began amid it. */
const TAKE_BACK_MS = 240;
/** On top of what stops the agent: who speaks for so long means it, whatever it is. */
const CONFIRM_MS = 500;
/** A stopped agent waits for words at most so long once the caller is silent again. */
const VERDICT_MS = 2500;
/** Nobody who has finished waits longer for their words to be known: they are asked for them again. */
const WORDS_WAIT_MS = 8000;
/** Keys that were pressed amid words wait so long for these, at most. */
const KEYS_WAIT_MS = 1000;
/** Nobody speaks for so long without a pause; music and noise do. */
const LONGEST_UTTERANCE_MS = 45_000;
/** Voice that it takes until it is known for voice. */
const ONSET_MS = 60;

/** 20 ms have passed. */
export function onFrame(state: TurnState, context: TurnContext): Step {
  const { utterance } = context;
  if (!utterance) return onNothingHeard(state, context);
  const followed = followUtterance(state, utterance, context);
  const next = byPhase(followed.state, utterance, context);
  return { state: next.state, effects: [...followed.effects, ...next.effects] };
}

/** There is no speech, or what seemed to be speech was the line's noise or the agent's echo. */
function onNothingHeard(state: TurnState, context: TurnContext): Step {
  switch (state.phase) {
    case 'quiet':
      return onSilence(state, context);
    case 'hearing':
      return isOwed(state) ? conclude({ ...state, words: '' }, context) : backToQuiet(state, context);
    case 'held':
      return resumed(state, undefined, context);
    default:
      return stay(state);
  }
}

/** Notices that the caller went on after words had been asked for: these are not all. */
function followUtterance(state: TurnState, utterance: Utterance, context: TurnContext): Step {
  const { askedToMs } = state;
  if (askedToMs === undefined || utterance.lastVoicedMs <= askedToMs) return stay(state);
  // What comes now is another turn's.
  if (isEndless(utterance, context) || (state.phase === 'hearing' && state.keys)) return stay(state);
  return {
    state: fresh(state),
    effects: [{ type: 'went_on', pauseMs: utterance.lastVoicedMs - askedToMs - ONSET_MS }],
  };
}

function byPhase(state: TurnState, utterance: Utterance, context: TurnContext): Step {
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
      if (silenceMs < policy.minPauseMs) return stay(state);
      return utterance.voicedMs >= TAKE_BACK_MS ? setAside(forget(state)) : forget(state);
    case 'speaking':
      return onSpokenOver(state, utterance, context);
    case 'held':
      return onHeld(state, utterance, context);
    default:
      return stay(state);
  }
}

function onHearing(state: TurnState, utterance: Utterance, context: TurnContext): Step {
  const silenceMs = context.atMs - utterance.lastVoicedMs;
  const mustEnd = isEndless(utterance, context);
  const isAsked = state.askedToMs !== undefined;
  if (!isAsked && (silenceMs >= ASK_AFTER_MS || mustEnd)) return ask({ ...state, isEnded: mustEnd }, context);
  const areKeysLate = state.keys !== undefined && context.atMs - state.keys.atMs >= KEYS_WAIT_MS;
  if (areKeysLate) return setAside(conclude({ ...state, words: '' }, context));
  // Nobody is answered who is just going on.
  const isOver = isAsked && silenceMs >= context.endPauseMs() && !context.mayBegin;
  const isEnded = state.isEnded || isOver;
  const next = { ...state, isEnded };
  if (isEnded && state.words !== undefined) return conclude(next, context);
  if (!isEnded || silenceMs < WORDS_WAIT_MS) return stay(next);
  return onTranscriptionFailed(next, 'The recogniser did not answer in time', context);
}

/** The caller speaks while the agent does. */
function onSpokenOver(state: TurnState, utterance: Utterance, context: TurnContext): Step {
  const { interruptible, interruptAfterMs } = context.policy;
  // Who spoke before the agent did has not cut in: the agent has, in the middle of what they had to say.
  const isCutInOn = state.turnEndMs !== undefined && utterance.startMs < state.soundedMs;
  const enoughMs = isCutInOn ? Math.min(interruptAfterMs, TAKE_BACK_MS) : interruptAfterMs;
  if (interruptible && utterance.voicedMs >= enoughMs) {
    return { state: enter(state, 'held', context), effects: [{ type: 'hold' }] };
  }
  const isShort = context.atMs - utterance.lastVoicedMs >= ASK_AFTER_MS;
  if (!isShort || state.askedToMs !== undefined) return stay(state);
  return interruptible ? ask(state, context) : forget(state);
}

/** The agent has stopped, and waits to know whether the caller means it. */
function onHeld(state: TurnState, utterance: Utterance, context: TurnContext): Step {
  const silenceMs = context.atMs - utterance.lastVoicedMs;
  const isAsked = state.askedToMs !== undefined;
  const isMeant = utterance.voicedMs >= context.policy.interruptAfterMs + CONFIRM_MS;
  if (isMeant || (isAsked && silenceMs >= VERDICT_MS)) return cutIn(state, context);
  return silenceMs >= ASK_AFTER_MS && !isAsked ? ask(state, context) : stay(state);
}

function onSilence(state: TurnState, context: TurnContext): Step {
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

function isEndless({ startMs }: Utterance, { atMs }: TurnContext): boolean {
  return atMs - startMs >= LONGEST_UTTERANCE_MS;
}
