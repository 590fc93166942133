import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  TurnContext,
  TurnEffect,
  TurnEvent,
  TurnState,
} from '../../../src/conversation/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/conversation/turnDetection/turnTransition.ts';
import { at, context, during, frame, spoken } from './support/turnStates.ts';

const eager = { preemptAfterMs: () => 150 };
const words = { requestedToMs: 1000, transcript: 'a table for two' };
const running = { ...words, preemptiveText: 'a table for two', preemptiveTurns: 1 };
const heard = (text: string): TurnEvent => ({ type: 'transcript', text, isBackchannel: false });
const signal = (name: 'eager_end' | 'turn_resumed' | 'end_of_turn'): TurnEvent => ({
  type: 'turn_signal',
  signal: name,
});

const start = ['start_preemptive_turn'];
const cancel = ['cancel_preemptive_turn'];
const commit = ['discard_utterance', 'commit_preemptive_turn'];

type Row = readonly [string, TurnState, TurnEvent, TurnContext, readonly string[]];

const rows: Row[] = [
  [
    '140 ms after the last word starts nothing',
    at('listening', words),
    frame,
    during(1140, 0, 1000, eager),
    [],
  ],
  [
    '150 ms after the last word starts one',
    at('listening', words),
    frame,
    during(1150, 0, 1000, eager),
    start,
  ],
  [
    'A speech onset starts none',
    at('listening', words),
    frame,
    during(1150, 0, 1000, { ...eager, isSpeechOnset: true }),
    [],
  ],
  [
    'Unknown words start none',
    at('listening', { requestedToMs: 1000 }),
    frame,
    during(1150, 0, 1000, eager),
    [],
  ],
  ['One that runs is not started again', at('listening', running), frame, during(1200, 0, 1000, eager), []],
  [
    'A fourth one of the same turn is not started',
    at('listening', { ...words, preemptiveTurns: 3 }),
    frame,
    during(1150, 0, 1000, eager),
    [],
  ],
  [
    'The recognizer’s eager end starts one',
    at('listening', words),
    signal('eager_end'),
    during(1100, 0, 1000, { preemptAfterMs: ({ recognizedEnd }) => (recognizedEnd ? 0 : undefined) }),
    start,
  ],
  [
    'Words that come after the eager end start one at once',
    at('listening', { requestedToMs: 1000, recognizedEnd: 'eager_end' }),
    heard('a table for two'),
    during(1100, 0, 1000, { preemptAfterMs: ({ recognizedEnd }) => (recognizedEnd ? 0 : undefined) }),
    start,
  ],
  [
    'The recognizer’s end on the same words commits it at once',
    at('listening', running),
    signal('end_of_turn'),
    during(1200, 0, 1000, { endpointingDelayMs: ({ recognizedEnd }) => (recognizedEnd ? 0 : 700) }),
    commit,
  ],
  [
    'The end on the same words commits it',
    at('listening', running),
    frame,
    during(1700, 0, 1000, eager),
    commit,
  ],
  [
    'Capitals and punctuation are the same words',
    at('listening', { ...running, isEndOfTurn: true }),
    heard('A table, for two.'),
    during(1300, 0, 1000, eager),
    commit,
  ],
  [
    'Other words cancel it',
    at('listening', running),
    heard('a table for ten'),
    during(1300, 0, 1000),
    cancel,
  ],
  [
    'Speech cancels it',
    at('listening', running),
    frame,
    during(1400, 0, 1300, eager),
    [...cancel, 'caller_continued'],
  ],
  [
    'Noise in place of speech cancels it',
    at('listening', running),
    frame,
    context(1400, eager),
    [...cancel, 'discard_utterance'],
  ],
  [
    'A completed entry of digits cancels it',
    at('listening', running),
    { type: 'dtmf_entry', digits: '1' },
    during(1400, 0, 1000, eager),
    [...cancel, 'discard_utterance', 'start_turn'],
  ],
  [
    'The end of the session cancels it',
    at('listening', running),
    { type: 'session_ending' },
    during(1400, 0, 1000),
    cancel,
  ],
];

describe('A preemptive turn', () => {
  test.each(rows)('%s', (_title, state, event, given, effects) => {
    expect(turnTransition(state, event, given).effects.map(({ type }) => type)).toEqual(effects);
  });

  test('counts as one of three, and the next turn has three again', () => {
    const started = turnTransition(at('listening', words), frame, during(1150, 0, 1000, eager));
    expect(started.state.preemptiveTurns).toBe(1);
    const third = at('listening', { ...running, preemptiveTurns: 3 });
    expect(turnTransition(third, frame, during(1700, 0, 1000, eager)).state.preemptiveTurns).toBe(0);
  });
});

const anyEvent = fc.oneof(
  { weight: 6, arbitrary: fc.constant(frame) },
  { weight: 2, arbitrary: fc.constantFrom('a table', 'a table for two', '').map(heard) },
  { weight: 2, arbitrary: fc.constantFrom('eager_end', 'turn_resumed', 'end_of_turn').map(signal as never) },
  fc.constantFrom<TurnEvent>(
    { type: 'transcription_failed', message: 'lost' },
    { type: 'dtmf_digit' },
    { type: 'dtmf_entry', digits: '12' },
    { type: 'agent_started_speaking' },
    { type: 'agent_turn_ended' },
    { type: 'transfer_started', isByAgent: false },
    { type: 'machine_detected' },
    { type: 'session_ending' },
  ),
) as fc.Arbitrary<TurnEvent>;

/** @returns Whether one runs after the effect. */
function runs(isRunning: boolean, effect: TurnEffect['type']): boolean {
  switch (effect) {
    case 'start_preemptive_turn':
      expect(isRunning).toBe(false);
      return true;
    case 'commit_preemptive_turn':
    case 'cancel_preemptive_turn':
      expect(isRunning).toBe(true);
      return false;
    case 'start_turn':
      expect(isRunning).toBe(false);
      return false;
    default:
      return isRunning;
  }
}

test('In any order of events, each one that is started is committed or cancelled once, before another turn', () => {
  const step = fc.record({
    event: anyEvent,
    isVoiced: fc.boolean(),
    hasUtterance: fc.boolean(),
    afterMs: fc.nat(600),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let state = at('idle');
      let atMs = 1000;
      let lastVoicedMs = 0;
      let isRunning = false;
      for (const { event, isVoiced, hasUtterance, afterMs } of steps) {
        atMs += afterMs;
        if (isVoiced) lastVoicedMs = atMs;
        const utterance = hasUtterance ? spoken(0, lastVoicedMs) : undefined;
        const given = context(atMs, { utterance, preemptAfterMs: () => 150, answering: 'user_message' });
        const after = turnTransition(state, event, given);
        state = after.state;
        for (const { type } of after.effects) isRunning = runs(isRunning, type);
        expect(isRunning).toBe(state.preemptiveText !== undefined);
        if (isRunning) expect(state.phase).toBe('listening');
      }
    }),
  );
});
