import { describe, expect, test } from 'vitest';
import { silenceTurn } from '../../../src/voice/turnDetection/silence.ts';
import { DEFAULT_TURN_POLICY } from '../../../src/voice/turnDetection/turnSettings.ts';
import type { TurnContext, TurnEvent, TurnState } from '../../../src/voice/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/voice/turnDetection/turnTransition.ts';
import { at, context, during, frame, pending } from './support/turnStates.ts';

describe('Turn detection over several steps', () => {
  test('Turn detection reports the pause after which the caller continued', () => {
    const step = turnTransition(at('listening', { requestedToMs: 500 }), frame, during(1460, 0, 1460));
    expect(step.effects[0]).toEqual({ type: 'caller_continued', pauseMs: 900 });
  });

  test('The caller is asked to repeat at most twice in a row', () => {
    const utterance = { startMs: 0, voicedMs: 900, lastVoicedMs: 900 };
    const effects: string[] = [];
    let state = at('listening');
    for (let n = 0; n < 3; n++) {
      const silent = { ...state, phase: 'listening', requestedToMs: 900, transcript: '' } as const;
      const step = turnTransition(silent, frame, context(1700, { utterance }));
      effects.push(...step.effects.map(({ type }) => type));
      state = step.state;
    }
    expect(effects.filter((type) => type === 'start_turn').length).toBe(2);
    expect(state.phase).toBe('idle');
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
    const answered = at('thinking', { carriedText: 'my number is' });
    expect(turnsOf(answered, entry, context(800, { answering: 'user_message' }))).toEqual(expected);
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
      1,
    ],
    ['a silence', at('idle', counted), frame, context(8000), 3, 1],
  ])('After %s silences and repeats are counted on', (_, state, event, given, silences, reprompts) => {
    const { state: next } = turnTransition(state, event, given);
    expect([next.phase, next.silences, next.reprompts]).toEqual(['thinking', silences, reprompts]);
  });

  test.each(['idle', 'listening'] as const)('A pause stops no agent that is silent: %s', (phase) => {
    const { state, effects } = turnTransition(at(phase), { type: 'agent_paused' }, context(100));
    expect([state.phase, effects]).toEqual([phase, [{ type: 'cancel_preemptive_turn' }]]);
  });
});
