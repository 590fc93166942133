import { expect, test } from 'vitest';

import { DEFAULT_TURN_POLICY, turnPolicyOf } from '../../../src/voice/turnDetection/turnSettings.ts';

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
