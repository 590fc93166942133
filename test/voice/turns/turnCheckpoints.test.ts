import { expect, test } from 'vitest';
import type { TurnCheckpoint } from '../../../src/engine/session/interruptedTurn.ts';
import { GREETING, greeted, simulatedCall } from '../support/simulatedCall.ts';

/** An agent that greets, and whose model then hangs. */
const silentAgent = (options: Partial<Parameters<typeof simulatedCall>[0]> = {}) =>
  simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }), ...options });

test('A checkpoint of the running turn is stored each second, and dropped with the turn', async () => {
  const stored: (TurnCheckpoint | 'dropped')[] = [];
  const checkpoints = {
    put: async (_instanceId: string, checkpoint: TurnCheckpoint) => void stored.push(checkpoint),
    drop: async () => void stored.push('dropped'),
  };
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { text: 'One two three four. Five six seven eight nine.' }),
    checkpoints,
  });
  await greeted(call);
  expect(stored.at(-1)).toBe('dropped');
  stored.splice(0);
  await call.say('Count for me.', 900);
  await call.agentSpeaks();
  await call.stream.advance(1500);
  const last = stored.at(-1);
  expect(last).toMatchObject({ turn: 1, nodeId: 'start', said: 'Count for me.' });
  expect(last).toHaveProperty('heard', expect.stringMatching(/^One two/));
  await call.agentFallsSilent();
  await call.stream.advance(100);
  expect(stored.at(-1)).toBe('dropped');
  expect(stored.length).toBeLessThanOrEqual(6);
  await call.stream.hangUp();
  await call.report;
});

test('Checkpoints that cannot be stored are logged at most every 10 s, and the session continues', async () => {
  const fail = async () => {
    throw new Error('down');
  };
  const call = silentAgent({ checkpoints: { put: fail, drop: fail } });
  await greeted(call);
  await call.say('Hello.', 600);
  await call.stream.advance(3000);
  expect(call.errors.length).toBeGreaterThan(0);
  expect(call.errors.length).toBeLessThanOrEqual(4);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: Hello.');
});
