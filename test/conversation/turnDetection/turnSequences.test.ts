import { describe, expect, test } from 'vitest';
import { silenceTurn } from '../../../src/conversation/turnDetection/silence.ts';
import { DEFAULT_TURN_POLICY } from '../../../src/conversation/turnDetection/turnSettings.ts';
import type { TurnContext, TurnEvent, TurnState } from '../../../src/conversation/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/conversation/turnDetection/turnTransition.ts';
import { at, context, during, frame, pending } from './support/turnStates.ts';

describe('Turn detection over several steps', () => {
  test('Turn detection reports the pause after which the caller continued', () => {
    const step = turnTransition(at('listening', { requestedToMs: 500 }), frame, during(1460, 0, 1460));
    expect(step.effects[0]).toEqual({ type: 'caller_continued', pauseMs: 900 });
  });

  /** Turns on speech without words, one after the other. */
  const notUnderstood = (times: number, given: Partial<TurnContext> = {}) => {
    const utterance = { startMs: 0, voicedMs: 900, lastVoicedMs: 900 };
    let state = at('listening');
    return Array.from({ length: times }, () => {
      const silent = { ...state, phase: 'listening', requestedToMs: 900, transcript: '' } as const;
      const step = turnTransition(silent, frame, context(1700, { utterance, ...given }));
      state = step.state;
      return step.effects.flatMap((effect) => (effect.type === 'start_turn' ? [effect] : []));
    }).flat();
  };

  test('The caller is asked to repeat twice in a row, then the pathway leads on, and they are asked again', () => {
    const turns = notUnderstood(6);
    const why = { kind: 'not_understood', why: 'no_words' };
    expect(turns.map(({ input }) => input)).toEqual(
      [1, 2, 3, 4, 5, 6].map((count) => ({ ...why, count, leadsOn: count % 3 === 0 })),
    );
    expect(turns.map(({ isLast }) => isLast)).toEqual([false, false, true, false, false, true]);
  });

  test('A cough does not restart the clock of a silence', () => {
    const idle = at('idle', { sinceMs: 3000, silentSinceMs: 500 });
    const heard = turnTransition(idle, frame, during(5000, 4900, 5000));
    expect(heard.state.phase).toBe('listening');
    const known = { ...heard.state, requestedToMs: 5000, transcript: '' };
    const { state } = turnTransition(known, frame, during(5700, 4900, 5000));
    expect([state.phase, state.sinceMs, state.silentSinceMs]).toEqual(['idle', 3000, 500]);
    const silence = turnTransition(state, frame, context(11_000));
    expect(silence.effects).toContainEqual(
      expect.objectContaining({ input: { kind: 'silence', durationMs: 10_500 } }),
    );
  });

  test('Music while the agent is on hold gets no answer, and a paused agent leads nowhere', () => {
    expect(notUnderstood(3, { isOnHold: true })).toEqual([]);
    const paused = notUnderstood(3, { isOnHold: true, isPaused: true });
    expect(paused.map(({ input, isLast }) => [input, isLast])).toEqual(
      Array.from({ length: 3 }, () => [
        { kind: 'not_understood', why: 'no_words', count: 1, leadsOn: false },
        false,
      ]),
    );
  });

  test('A request to repeat that the caller speaks into is undone and not counted', () => {
    const given = during(900, 620, 860, { answering: 'not_understood' });
    const { state, effects } = turnTransition(at('thinking', { reprompts: 2 }), frame, given);
    expect([state.phase, state.reprompts, effects]).toEqual(['listening', 1, [{ type: 'cancel_turn' }]]);
  });

  test.each([
    [2000, { kind: 'not_understood', why: 'no_words', count: 1, leadsOn: false }],
    [2020, undefined],
  ])('Speech without words over the agent’s last second is answered: an end at %i ms', (endMs, expected) => {
    const paused = at('paused', { requestedToMs: 1000 });
    const transcript: TurnEvent = { type: 'transcript', text: '', isBackchannel: false };
    const resumed = turnTransition(paused, transcript, during(1300, 500, 1000));
    expect(resumed.state.phase).toBe('speaking');
    const ended = turnTransition(resumed.state, { type: 'agent_turn_ended' }, context(endMs));
    const turns = ended.effects.flatMap((effect) => (effect.type === 'start_turn' ? [effect.input] : []));
    expect(turns).toEqual(expected ? [expected] : []);
  });

  test('A short word without a transcript is transcribed together with what follows', () => {
    const asked = { startMs: 0, voicedMs: 400, lastVoicedMs: 400 };
    const waiting = turnTransition(
      at('listening', { requestedToMs: 400, transcript: '' }),
      frame,
      context(1600, { utterance: asked }),
    );
    expect([waiting.state.phase, waiting.effects]).toEqual(['listening', []]);
    const both = { startMs: 0, voicedMs: 900, lastVoicedMs: 2100 };
    const continued = turnTransition(waiting.state, frame, context(2100, { utterance: both }));
    expect(continued.effects).toEqual([{ type: 'caller_continued', pauseMs: 1640, transcript: '' }]);
    const requested = turnTransition(continued.state, frame, context(2300, { utterance: both }));
    expect(requested.effects).toEqual([{ type: 'request_transcript' }]);
  });

  test('A turn of DTMF digits carries the speech before them', () => {
    const turnsOf = (state: TurnState, event: TurnEvent, given: TurnContext) =>
      turnTransition(state, event, given).effects.flatMap((effect) =>
        effect.type === 'start_turn' ? [[effect.input, effect.unansweredText]] : [],
      );
    const entry: TurnEvent = { type: 'dtmf_entry', digits: '12' };
    const expected = [[{ kind: 'dtmf', digits: '12' }, 'my number is']];
    const transcribed = at('listening', { requestedToMs: 500, transcript: 'is', carriedText: 'my number' });
    expect(turnsOf(transcribed, entry, during(800, 0, 500))).toEqual(expected);
    const waiting = { ...transcribed, ...pending, transcript: undefined };
    const transcript: TurnEvent = { type: 'transcript', text: 'is', isBackchannel: false };
    expect(turnsOf(waiting, transcript, during(800, 0, 500))).toEqual(expected);
    const answered = at('thinking', { answeredText: 'my number is' });
    expect(turnsOf(answered, entry, context(800, { answering: 'user_message' }))).toEqual(expected);
  });

  test('A short answer over the agent’s last words is said again where its turn is cancelled', () => {
    const spoken = at('speaking', { earlyAnswer: { text: 'Yes.', endMs: 1000 } });
    const { state } = turnTransition(spoken, { type: 'agent_turn_ended' }, context(1500));
    const goesOn = during(2000, 1700, 2000, { answering: 'user_message' });
    expect(turnTransition(state, frame, goesOn).state).toMatchObject({
      phase: 'listening',
      carriedText: 'Yes.',
    });
  });

  test.each([
    [
      'continues after a pause reports an early endpoint',
      1000,
      300,
      [{ type: 'interrupt_agent' }, { type: 'endpointed_too_early', pauseMs: 1300 }],
    ],
    ['starts 400 ms after the agent answers it', 1000, 400, [{ type: 'interrupt_agent' }]],
    [
      'comes after the longest pause of a turn still continues',
      700,
      300,
      [{ type: 'interrupt_agent' }, { type: 'endpointed_too_early', pauseMs: 1600 }],
    ],
    ['follows no pause does not', 2300, 300, [{ type: 'interrupt_agent' }]],
    ['answers the agent does not', 1000, 500, [{ type: 'interrupt_agent' }]],
    ['continues after a longer pause does not', 300, 300, [{ type: 'interrupt_agent' }]],
  ])('An interruption that %s', (_, answeredSpeechEndMs, afterMs, expected) => {
    const given = during(2900 + afterMs, 2000 + afterMs, 2900 + afterMs, { answering: 'user_message' });
    const paused = at('paused', { answeredSpeechEndMs, agentStartedMs: 2000 });
    expect(turnTransition(paused, frame, given).effects).toEqual(expected);
  });

  test('A digit restarts the wait for a silence', () => {
    const { state } = turnTransition(at('idle'), { type: 'dtmf_digit' }, context(5000));
    expect(turnTransition(state, frame, context(12_980)).state.phase).toBe('idle');
    expect(turnTransition(state, frame, context(13_000)).state.phase).toBe('thinking');
  });

  test.each([
    [7980, undefined],
    [8000, { isLast: false, endsSilence: false }],
    [8980, { isLast: false, endsSilence: false }],
    [9000, { isLast: false, endsSilence: true }],
  ])(
    'With a prompt every 8 s and an edge at 9 s, the turn after %i ms of silence is %j',
    (atMs, expected) => {
      const turn = silenceTurn(at('idle'), { ...DEFAULT_TURN_POLICY, silenceEdgeMs: 9000 }, atMs);
      expect(turn && { isLast: turn.isLast, endsSilence: turn.endsSilence }).toEqual(expected);
    },
  );

  test('An agent that never hangs up asks after each silence', () => {
    const policy = { ...DEFAULT_TURN_POLICY, hangupAfter: 0 };
    expect(silenceTurn(at('idle', { silences: 9 }), policy, 8000)).toMatchObject({ isLast: false });
  });

  test('The fourth silence in a row is the last, and speech resets the count, also without words', () => {
    const silence = (state: TurnState) =>
      turnTransition({ ...state, phase: 'idle', sinceMs: 0 }, frame, context(8000));
    const third = silence(silence(silence(at('idle')).state).state);
    const fourth = silence(third.state);
    expect(third.effects).not.toContainEqual(expect.objectContaining({ isLast: true }));
    expect(fourth.effects).toContainEqual(expect.objectContaining({ isLast: true }));
    for (const transcript of ['yes', '']) {
      const heard = turnTransition(
        { ...third.state, phase: 'listening', requestedToMs: 800, transcript },
        frame,
        during(1500, 0, 800),
      );
      expect([heard.state.phase, heard.state.silences]).toEqual(['thinking', 0]);
    }
  });

  const counted = { silences: 2, reprompts: 1 };
  const entry = { type: 'dtmf_entry', digits: '1' } as const;
  const asked = (requestedToMs: number, transcript: string) =>
    at('listening', { ...counted, requestedToMs, transcript });

  test.each<[string, TurnState, TurnEvent, TurnContext, number, number]>([
    ['words', asked(800, 'yes'), frame, during(1500, 0, 800), 0, 0],
    ['speech without words', asked(1700, ''), frame, during(2400, 0, 1700), 0, 2],
    ['digits', at('idle', counted), entry, context(1000), 0, 0],
    [
      'an answer over the agent’s last words',
      at('speaking', { ...counted, earlyAnswer: { text: 'yes', endMs: 1000 } }),
      { type: 'agent_turn_ended' },
      context(2000),
      0,
      0,
    ],
    ['a silence', at('idle', counted), frame, context(8000), 3, 1],
  ])('After %s silences and repeats are counted on', (_, state, event, given, silences, reprompts) => {
    const { state: next } = turnTransition(state, event, given);
    expect([next.phase, next.silences, next.reprompts]).toEqual(['thinking', silences, reprompts]);
  });

  test.each(['idle', 'listening'] as const)('A pause stops no agent that is silent: %s', (phase) => {
    const { state, effects } = turnTransition(at(phase), { type: 'agent_stopped' }, context(100));
    expect([state.phase, effects]).toEqual([phase, [{ type: 'cancel_preemptive_turn' }]]);
  });
});
