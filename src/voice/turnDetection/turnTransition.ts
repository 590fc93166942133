import { onDtmfDigit, onDtmfEntry } from './onDtmf.ts';
import { onFrame } from './onFrame.ts';
import { onTranscript, onTranscriptionFailed } from './onTranscript.ts';
import { enter, fresh, type Step, stay, takeTurn } from './steps.ts';
import type { TurnContext, TurnEffect, TurnEvent, TurnState } from './turnState.ts';

/** An answer given while the agent's last words sounded counts, if it ended so shortly before them. */
const LATE_ANSWER_MS = 1000;

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
export function turnTransition(state: TurnState, event: TurnEvent, context: TurnContext): Step {
  if (state.phase === 'over') return stay(state);
  switch (event.type) {
    case 'frame':
      return onFrame(state, context);
    case 'words':
      return onTranscript(state, event, context);
    case 'words_failed':
      return onTranscriptionFailed(state, event.message, context);
    case 'key':
      return onDtmfDigit(state, context);
    case 'keys':
      return onDtmfEntry(state, event.digits, context);
    case 'sounding':
      return state.phase === 'thinking'
        ? stay(enter({ ...state, carried: '', soundedMs: context.atMs }, 'speaking', context))
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

function onAnswered(state: TurnState, context: TurnContext): Step {
  if (state.phase !== 'speaking' && state.phase !== 'thinking') return stay(state);
  const { lateAnswer, keys } = state;
  const next = { ...state, carried: '', lateAnswer: undefined, keys: undefined };
  if (keys !== undefined) return takeTurn(next, { kind: 'dtmf', digits: keys.digits }, context);
  if (context.utterance) return stay({ ...next, phase: 'hearing', sinceMs: context.atMs });
  if (lateAnswer && context.atMs - lateAnswer.endMs <= LATE_ANSWER_MS) {
    return takeTurn({ ...next, silences: 0 }, { kind: 'words', text: lateAnswer.text }, context);
  }
  return stay(enter(next, 'quiet', context));
}

function stopAgent({ phase }: TurnState): readonly TurnEffect[] {
  const forgetIt: TurnEffect = { type: 'forget_utterance' };
  if (phase === 'speaking' || phase === 'held') return [{ type: 'cut' }, forgetIt];
  return phase === 'thinking' ? [{ type: 'take_back' }, forgetIt] : [forgetIt];
}
