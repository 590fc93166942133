import { describe, expect, test } from 'vitest';
import { DEFAULT_TURN_DETECTION } from '../../../src/agents/speech/turnDetection.ts';
import { AGENT_FAILED, fallbackPhrasesOf } from '../../../src/conversation/speech/fallbackPhrases.ts';
import {
  DEFAULT_TURN_POLICY,
  TurnSettings,
  turnPolicyOf,
} from '../../../src/conversation/turnDetection/turnSettings.ts';
import type { CurrentNode } from '../../../src/engine/turn/delivery.ts';
import type { TurnInput } from '../../../src/engine/turn/turn.ts';

const BATCH = { isStreaming: false, detectsTurns: false };
const SILENCE: TurnInput = { kind: 'silence', durationMs: 8000 };
const NOT_UNDERSTOOD: TurnInput = { kind: 'not_understood', why: 'no_words', count: 1, leadsOn: false };
const HEARD = { interruptible: true, interruptAfterMs: 300 };

const nodeWith = (id: string, more: Partial<CurrentNode> = {}): CurrentNode => ({
  node: {
    id,
    type: 'conversation',
    position: { x: 0, y: 0 },
    data: { title: id, prompt: '', tools: [], silence: { prompts: ['Hello?', 'Still there?'] } },
  },
  turnDetection: DEFAULT_TURN_DETECTION,
  engine: undefined,
  digits: [],
  expectedAnswers: [],
  silenceEdgeMs: undefined,
  language: 'en',
  languages: [],
  speech: {},
  ...more,
});

function settingsAt(current: CurrentNode, recognizer = BATCH): TurnSettings {
  const settings = new TurnSettings(recognizer);
  settings.enterNode(current);
  return settings;
}

test('A node’s turn policy is completed by the defaults', () => {
  const data = {
    title: 'N',
    prompt: '',
    tools: [],
    interruption: 'off',
    turn: { maxPauseMs: 200 },
    silence: { hangupAfter: 0 },
  } as const;
  const policy = turnPolicyOf({
    id: 'n',
    type: 'start',
    position: { x: 0, y: 0 },
    data: { ...data, tools: [] },
  });
  expect(policy).toEqual({
    ...DEFAULT_TURN_POLICY,
    interruptible: false,
    minEndpointingDelayMs: 200,
    maxEndpointingDelayMs: 200,
    hangupAfter: 0,
  });
  expect(turnPolicyOf(undefined)).toBe(DEFAULT_TURN_POLICY);
});

test('A node’s pauses bound the endpointing delay', () => {
  const turn = { minPauseMs: 700, maxPauseMs: 3000 };
  const data = { title: 'N', prompt: '', tools: [], turn };
  const policy = turnPolicyOf({ id: 'n', type: 'start', position: { x: 0, y: 0 }, data });
  expect(policy).toMatchObject({ minEndpointingDelayMs: 700, maxEndpointingDelayMs: 3000 });
});

describe('Turn settings', () => {
  test('silence prompts come in order, the last one repeats, and another node begins anew', () => {
    const settings = settingsAt(nodeWith('a'));
    const prompts = () => [1, 2, 3].map(() => settings.fallbackPhrase(SILENCE, false));
    expect(prompts()).toEqual(['Hello?', 'Still there?', 'Still there?']);
    settings.enterNode(nodeWith('a'));
    expect(settings.fallbackPhrase(SILENCE, false)).toBe('Still there?');
    settings.enterNode(nodeWith('b'));
    expect(prompts()).toEqual(['Hello?', 'Still there?', 'Still there?']);
  });

  test('interruption that is forbidden stays so at every later node', () => {
    const settings = settingsAt(nodeWith('a'));
    expect(settings.policyWhile(HEARD)).toMatchObject(HEARD);
    settings.forbidInterruption();
    expect(settings.policy.interruptible).toBe(false);
    settings.enterNode(nodeWith('b'));
    expect(settings.policy.interruptible).toBe(false);
    expect(settings.policyWhile(HEARD).interruptible).toBe(false);
  });

  test.each<[TurnInput, string | undefined]>([
    [{ kind: 'failure' }, fallbackPhrasesOf('en').apology],
    [{ kind: 'channel_error', code: AGENT_FAILED, message: '' }, fallbackPhrasesOf('en').apology],
    [NOT_UNDERSTOOD, undefined],
    [SILENCE, undefined],
  ])('where a bot has words for everything, the phrase for %j is %j', (input, phrase) => {
    expect(settingsAt(nodeWith('bot', { speaksForItself: true })).fallbackPhrase(input, false)).toBe(phrase);
  });

  test('the endpointing delay follows the recognizer, what it tells and how the caller pauses', () => {
    const settings = settingsAt(nodeWith('a'));
    const delayMs = () => settings.endpointingDelayMs({ transcript: 'A table.', recognizedEnd: undefined });
    expect(settings.requestAfterMs).toBe(200);
    settings.useRecognizer({ isStreaming: true, detectsTurns: false });
    expect(settings.requestAfterMs).toBeLessThan(200);
    const usualMs = delayMs();
    settings.learnPause(usualMs, 'a table');
    expect(delayMs()).toBeGreaterThan(usualMs);
    const pausingMs = delayMs();
    settings.learnTurnEvents();
    expect(delayMs()).toBeGreaterThan(pausingMs);
  });
});
