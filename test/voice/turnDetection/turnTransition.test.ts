import { describe, expect, test } from 'vitest';
import type { Utterance } from '../../../src/voice/recognition/speechActivity.ts';
import { DEFAULT_TURN_POLICY } from '../../../src/voice/turnDetection/turnPolicy.ts';
import {
  INITIAL_TURN_STATE,
  type TurnContext,
  type TurnEvent,
  type TurnState,
} from '../../../src/voice/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/voice/turnDetection/turnTransition.ts';

const context = (atMs: number, more: Partial<TurnContext> = {}): TurnContext => ({
  atMs,
  utterance: undefined,
  mayBegin: false,
  policy: DEFAULT_TURN_POLICY,
  endPauseMs: () => 700,
  answering: undefined,
  isOnHold: false,
  ...more,
});
const speaking = (startMs: number, lastVoicedMs: number): Utterance => ({
  startMs,
  voicedMs: lastVoicedMs - startMs,
  lastVoicedMs,
});
const at = (phase: TurnState['phase'], more: Partial<TurnState> = {}): TurnState => ({
  ...INITIAL_TURN_STATE,
  phase,
  ...more,
});
const frame: TurnEvent = { type: 'frame' };

function effects(state: TurnState, event: TurnEvent, given: TurnContext): string[] {
  return turnTransition(state, event, given).effects.map((effect) =>
    effect.type === 'take_turn' ? `take_turn ${effect.input.kind}` : effect.type,
  );
}

test.each<[string, TurnState, TurnEvent, TurnContext, TurnState['phase'], string[]]>([
  ['silence is no event while it is short', at('quiet'), frame, context(7980), 'quiet', []],
  ['a long one is', at('quiet'), frame, context(8000), 'thinking', ['forget_utterance', 'take_turn silence']],
  [
    'who has put us on hold may be silent',
    at('quiet'),
    frame,
    context(60_000, { isOnHold: true }),
    'quiet',
    [],
  ],
  [
    'an agent that was stopped by nobody goes on',
    at('held'),
    frame,
    context(900),
    'speaking',
    ['forget_utterance', 'resume'],
  ],
  [
    'who has been silent for long enough is answered',
    at('hearing', { askedToMs: 1000, words: 'yes' }),
    frame,
    context(1700, { utterance: speaking(400, 1000) }),
    'thinking',
    ['forget_utterance', 'take_turn words'],
  ],
  [
    'but not who may just be going on',
    at('hearing', { askedToMs: 1000, words: 'yes' }),
    frame,
    context(1700, { utterance: speaking(400, 1000), mayBegin: true }),
    'hearing',
    [],
  ],
  [
    'words that are long in coming are waited for',
    at('hearing', { askedToMs: 1000, isEnded: true }),
    frame,
    context(8980, { utterance: speaking(400, 1000) }),
    'hearing',
    [],
  ],
  [
    'words that do not come are asked for again',
    at('hearing', { askedToMs: 1000, isEnded: true }),
    frame,
    context(9000, { utterance: speaking(400, 1000) }),
    'thinking',
    ['forget_utterance', 'take_turn notice'],
  ],
  [
    'what seemed to be speech, and was noise, is forgotten',
    at('hearing'),
    frame,
    context(900),
    'quiet',
    ['forget_utterance'],
  ],
  [
    'and what was said before it is answered',
    at('hearing', { carried: 'a table for two' }),
    frame,
    context(900),
    'thinking',
    ['forget_utterance', 'take_turn words'],
  ],
  ['speech is heard', at('quiet'), frame, context(100, { utterance: speaking(0, 100) }), 'hearing', []],
  [
    'a pause asks for words',
    at('hearing'),
    frame,
    context(700, { utterance: speaking(0, 500) }),
    'hearing',
    ['ask_words'],
  ],
  [
    'a shorter one does not',
    at('hearing'),
    frame,
    context(680, { utterance: speaking(0, 500) }),
    'hearing',
    [],
  ],
  [
    'speech after it drops the question',
    at('hearing', { askedToMs: 500 }),
    frame,
    context(900, { utterance: speaking(0, 900) }),
    'hearing',
    ['went_on'],
  ],
  [
    'an end without words waits for them',
    at('hearing', { askedToMs: 500 }),
    frame,
    context(1200, { utterance: speaking(0, 500) }),
    'hearing',
    [],
  ],
  [
    'an end with words is a turn',
    at('hearing', { askedToMs: 500, words: 'hi' }),
    frame,
    context(1200, { utterance: speaking(0, 500) }),
    'thinking',
    ['forget_utterance', 'take_turn words'],
  ],
  [
    'speech without end ends',
    at('hearing'),
    frame,
    context(45_000, { utterance: speaking(0, 45_000) }),
    'hearing',
    ['ask_words'],
  ],
  [
    'and goes on being asked about',
    at('hearing', { askedToMs: 45_000, isEnded: true }),
    frame,
    context(45_020, { utterance: speaking(0, 45_020) }),
    'hearing',
    [],
  ],
  [
    'speech while thinking takes the turn back',
    at('thinking'),
    frame,
    context(900, { utterance: speaking(600, 860), answering: 'words' }),
    'hearing',
    ['take_back'],
  ],
  [
    'but not a greeting',
    at('thinking'),
    frame,
    context(900, { utterance: speaking(600, 860), answering: 'begin' }),
    'thinking',
    [],
  ],
  [
    'a noise while thinking is forgotten',
    at('thinking'),
    frame,
    context(1100, { utterance: speaking(600, 700), answering: 'words' }),
    'thinking',
    ['forget_utterance'],
  ],
  [
    'speech stops the agent',
    at('speaking'),
    frame,
    context(900, { utterance: speaking(500, 900) }),
    'held',
    ['hold'],
  ],
  [
    'long speech is meant',
    at('held'),
    frame,
    context(1400, { utterance: speaking(500, 1400) }),
    'hearing',
    ['cut'],
  ],
  [
    'words that do not come are taken for meant',
    at('held', { askedToMs: 900 }),
    frame,
    context(3400, { utterance: speaking(500, 900) }),
    'hearing',
    ['cut'],
  ],
  [
    'a failing recogniser too',
    at('held', { askedToMs: 900 }),
    { type: 'words_failed', message: '' },
    context(1200, { utterance: speaking(500, 900) }),
    'hearing',
    ['cut'],
  ],
  [
    'words of an utterance that went on are none',
    at('held'),
    { type: 'words', text: 'no', isAcknowledgement: false },
    context(900, { utterance: speaking(500, 900) }),
    'held',
    [],
  ],
  [
    'a machine stops what is being thought out',
    at('thinking'),
    { type: 'machine' },
    context(900),
    'waiting',
    ['take_back', 'forget_utterance'],
  ],
  [
    'a machine that waits is not answered',
    at('waiting'),
    frame,
    context(9000, { utterance: speaking(0, 9000) }),
    'waiting',
    [],
  ],
  [
    'a machine that records gets its message',
    at('waiting'),
    { type: 'recording', evidence: 'beep' },
    context(9000),
    'thinking',
    ['forget_utterance', 'take_turn voicemail'],
  ],
  [
    'keys amid words that are not known yet wait for them',
    at('hearing'),
    { type: 'keys', digits: '12' },
    context(700, { utterance: speaking(0, 700) }),
    'hearing',
    ['ask_words'],
  ],
  [
    'also where the caller goes on',
    at('hearing', { keys: { digits: '12', atMs: 700 }, isEnded: true, askedToMs: 700 }),
    frame,
    context(900, { utterance: speaking(0, 900) }),
    'hearing',
    [],
  ],
  [
    'but not for long',
    at('hearing', { keys: { digits: '12', atMs: 700 }, isEnded: true, askedToMs: 700 }),
    frame,
    context(1700, { utterance: speaking(0, 1700) }),
    'thinking',
    ['set_aside', 'forget_utterance', 'take_turn dtmf'],
  ],
  [
    'nor where the words cannot be had',
    at('hearing', { keys: { digits: '12', atMs: 700 }, isEnded: true, askedToMs: 700 }),
    { type: 'words_failed', message: 'away' },
    context(800, { utterance: speaking(0, 700) }),
    'thinking',
    ['forget_utterance', 'take_turn dtmf'],
  ],
  [
    'the next keys do not wait, and come after them',
    at('hearing', { keys: { digits: '12', atMs: 700 }, isEnded: true, askedToMs: 700 }),
    { type: 'keys', digits: '3' },
    context(900, { utterance: speaking(0, 700) }),
    'thinking',
    ['set_aside', 'forget_utterance', 'take_turn dtmf'],
  ],
  [
    'what is said while an answer to keys is thought out is kept, and does not hold that up',
    at('thinking'),
    frame,
    context(1300, { utterance: speaking(400, 1000), answering: 'dtmf' }),
    'thinking',
    ['set_aside', 'forget_utterance'],
  ],
  [
    'a key amid speech over the agent stops it, and leaves the speech to be heard',
    at('held'),
    { type: 'key' },
    context(1300, { utterance: speaking(400, 1200) }),
    'hearing',
    ['cut'],
  ],
  [
    'who was speaking before the agent answered stops it as soon as they would have taken the answer back',
    at('speaking', { turnEndMs: 600, soundedMs: 1100 }),
    frame,
    context(1240, { utterance: speaking(1000, 1240) }),
    'held',
    ['hold'],
  ],
  [
    'who begins after it needs as much as anybody who cuts in',
    at('speaking', { turnEndMs: 600, soundedMs: 1000 }),
    frame,
    context(1240, { utterance: speaking(1000, 1240) }),
    'speaking',
    [],
  ],
  [
    'a key whose own tone was heard stops it alone',
    at('speaking'),
    { type: 'key' },
    context(1300, { utterance: speaking(1100, 1200) }),
    'quiet',
    ['cut', 'forget_utterance'],
  ],
  ['nothing follows the end', at('over'), { type: 'keys', digits: '1' }, context(9000), 'over', []],
])('%s', (_, state, event, given, phase, expected) => {
  expect(turnTransition(state, event, given).state.phase).toBe(phase);
  expect(effects(state, event, given)).toEqual(expected);
});

describe('what lasts', () => {
  test('the pause of a caller who goes on is told, as long as it was', () => {
    const {
      effects: [effect],
    } = turnTransition(
      at('hearing', { askedToMs: 500 }),
      frame,
      context(1460, { utterance: speaking(0, 1460) }),
    );
    expect(effect).toEqual({ type: 'went_on', pauseMs: 900 });
  });

  test('after two requests to say it again the agent waits in silence', () => {
    const utterance = { startMs: 0, voicedMs: 900, lastVoicedMs: 900 };
    const kinds: string[] = [];
    let state = at('hearing');
    for (let n = 0; n < 3; n++) {
      const step = turnTransition(
        { ...state, phase: 'hearing', askedToMs: 900, words: '' },
        frame,
        context(1700, { utterance }),
      );
      kinds.push(...step.effects.map(({ type }) => type));
      state = step.state;
    }
    expect(kinds.filter((type) => type === 'take_turn').length).toBe(2);
    expect(state.phase).toBe('quiet');
  });

  test('words before keys go with them', () => {
    const said = (state: TurnState, event: TurnEvent, given: TurnContext) =>
      turnTransition(state, event, given).effects.flatMap((effect) =>
        effect.type === 'take_turn' ? [[effect.input, effect.said]] : [],
      );
    const keys: TurnEvent = { type: 'keys', digits: '12' };
    const taken = [[{ kind: 'dtmf', digits: '12' }, 'my number is']];
    const utterance = speaking(0, 500);
    const known = at('hearing', { askedToMs: 500, words: 'is', carried: 'my number' });
    expect(said(known, keys, context(800, { utterance }))).toEqual(taken);
    const waiting = { ...known, words: undefined, isEnded: true, keys: { digits: '12', atMs: 700 } };
    const words: TurnEvent = { type: 'words', text: 'is', isAcknowledgement: false };
    expect(said(waiting, words, context(800, { utterance }))).toEqual(taken);
    const answered = at('thinking', { carried: 'my number is' });
    expect(said(answered, keys, context(800, { answering: 'words' }))).toEqual(taken);
  });

  test.each([
    [
      'and goes on after a pause has that pause learnt',
      1000,
      300,
      [{ type: 'cut' }, { type: 'was_too_soon', pauseMs: 1300 }],
    ],
    ['answers the agent', 1000, 500, [{ type: 'cut' }]],
    ['and had waited for longer than anybody pauses', 300, 300, [{ type: 'cut' }]],
  ])('who cuts in %s', (_, turnEndMs, afterMs, expected) => {
    const utterance = speaking(2000 + afterMs, 2900 + afterMs);
    const given = context(2900 + afterMs, { utterance, answering: 'words' });
    const held = at('held', { turnEndMs, soundedMs: 2000 });
    expect(turnTransition(held, frame, given).effects).toEqual(expected);
  });

  test('silences are counted until somebody says something', () => {
    const silent = (state: TurnState) =>
      turnTransition({ ...state, phase: 'quiet', sinceMs: 0 }, frame, context(8000));
    const third = silent(silent(silent(at('quiet')).state).state);
    const fourth = silent(third.state);
    expect(third.effects).not.toContainEqual(expect.objectContaining({ isLast: true }));
    expect(fourth.effects).toContainEqual(expect.objectContaining({ isLast: true }));
    const utterance = speaking(0, 500);
    const heard = turnTransition(
      { ...third.state, phase: 'hearing', askedToMs: 500, words: 'yes' },
      frame,
      context(1200, { utterance }),
    );
    expect(heard.state.silences).toBe(0);
  });
});
