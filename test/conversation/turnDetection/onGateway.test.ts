import { expect, test } from 'vitest';
import type {
  Gateway,
  TurnContext,
  TurnEvent,
  TurnState,
} from '../../../src/conversation/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/conversation/turnDetection/turnTransition.ts';
import { at, context } from './support/turnStates.ts';

const NONE = { hasBegun: false, isFinished: false, isInterruptible: true };
const PART = { ...NONE, hasBegun: true };
const ALL = { ...PART, isFinished: true };
const PROTECTED = { ...PART, isInterruptible: false };

const WORDS: TurnEvent = { type: 'finished_text', text: 'a table.' };
const DIGITS: TurnEvent = { type: 'dtmf_entry', digits: '12' };
const stopped = (text: string): TurnEvent => ({ type: 'gateway_interrupted', heard: { text, ms: 460 } });

/** The effects on the agent and the caller's turn, in order. */
function effectsOf(
  state: TurnState,
  event: TurnEvent,
  answer: Gateway['answer'],
  answering: TurnContext['answering'],
) {
  const step = turnTransition(state, event, context(5000, { answering, gateway: { answer } }));
  const effects = step.effects.flatMap((effect) => {
    if (effect.type === 'discard_utterance') return [];
    if (effect.type !== 'start_turn') return [effect.type];
    const { input, unansweredText = '' } = effect;
    return [input.kind === 'user_message' ? input.text : `${unansweredText}#${input.kind}`];
  });
  return [step.state.phase, ...effects];
}

const thinking = at('thinking', { answeredText: 'I would like' });
const speaking = at('speaking', { answeredText: 'I would like' });
const stoppedBefore = at('listening', { carriedText: 'I would like' });

test.each([
  ['words of a silence', at('idle'), WORDS, ALL, undefined, ['thinking', 'a table.']],
  [
    'words after a stopped question',
    stoppedBefore,
    WORDS,
    NONE,
    undefined,
    ['thinking', 'I would like a table.'],
  ],
  [
    'digits after a stopped question',
    stoppedBefore,
    DIGITS,
    NONE,
    undefined,
    ['thinking', 'I would like#dtmf'],
  ],
  [
    'words before an answer begins',
    thinking,
    WORDS,
    NONE,
    'user_message',
    ['thinking', 'cancel_turn', 'I would like a table.'],
  ],
  [
    'digits before an answer begins',
    thinking,
    DIGITS,
    NONE,
    'user_message',
    ['thinking', 'cancel_turn', 'I would like#dtmf'],
  ],
  ['words before the greeting begins', at('thinking'), WORDS, NONE, 'begin', ['thinking', 'a table.']],
  [
    'words over an answer',
    speaking,
    WORDS,
    PART,
    'user_message',
    ['thinking', 'interrupt_agent', 'a table.'],
  ],
  ['words over a protected answer', speaking, WORDS, PROTECTED, 'user_message', ['thinking', 'a table.']],
  [
    'words after an answer that was sent whole',
    speaking,
    WORDS,
    ALL,
    'user_message',
    ['thinking', 'assume_played', 'a table.'],
  ],
  [
    'a stop of an answer that was heard',
    speaking,
    stopped('Life is'),
    PART,
    'user_message',
    ['idle', 'interrupt_agent'],
  ],
  [
    'a stop of an answer that was not',
    speaking,
    stopped(' '),
    PART,
    'user_message',
    ['listening', 'cancel_turn'],
  ],
  ['a stop of a greeting that was not', speaking, stopped(''), PART, 'begin', ['idle', 'interrupt_agent']],
  ['a stop before anything was sent', thinking, stopped(''), NONE, 'user_message', ['thinking']],
  ['a stop of an answer that is over', at('idle'), stopped(''), ALL, 'user_message', ['idle']],
  ['words after the end', at('ended'), WORDS, ALL, undefined, ['ended']],
] as const)('A gateway’s report: %s', (_what, state, event, answer, answering, expected) => {
  expect(effectsOf(state, event, answer, answering)).toEqual(expected);
});

test.each([
  [1999, 'listening'],
  [2000, 'thinking'],
])('A stopped question that nothing follows for %i ms is %s', (ms, phase) => {
  const given = context(ms, { gateway: { answer: NONE } });
  expect(turnTransition(stoppedBefore, { type: 'frame' }, given).state.phase).toBe(phase);
});
