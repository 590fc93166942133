import { describe, expect, test } from 'vitest';
import { TurnCheckpoints } from '../../../src/conversation/turns/turnCheckpoints.ts';
import type { TurnCheckpoint, TurnCheckpointStore } from '../../../src/engine/session/interruptedTurn.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { GREETING, greeted, simulatedCall } from '../../voice/support/simulatedCall.ts';

/** An agent that greets, and whose model then hangs. */
const silentAgent = (options: Partial<Parameters<typeof simulatedCall>[0]> = {}) =>
  simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }), ...options });

test('A checkpoint of the running turn is stored each second, and dropped with the turn', async () => {
  const stored: (TurnCheckpoint | 'dropped')[] = [];
  const checkpoints = unused<TurnCheckpointStore>('checkpoints', {
    put: async (_instanceId, checkpoint) => void stored.push(checkpoint),
    drop: async () => void stored.push('dropped'),
  });
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
  await call.hangUp();
});

test('Checkpoints that cannot be stored are logged at most every 10 s, and the session continues', async () => {
  const fail = async () => {
    throw new Error('down');
  };
  const call = silentAgent({
    checkpoints: unused<TurnCheckpointStore>('checkpoints', { put: fail, drop: fail }),
  });
  await greeted(call);
  await call.say('Hello.', 600);
  await call.stream.advance(3000);
  expect(call.errors.length).toBeGreaterThan(0);
  expect(call.errors.length).toBeLessThanOrEqual(4);
  await call.hangUp();
  expect(call.transcript().at(-1)).toBe('user: Hello.');
});

describe('Checkpoints of a turn', () => {
  /** A store whose writes end when told, and the frames of its turns. */
  function checkpointed() {
    const clock = createSimulatedClock();
    const writes: string[] = [];
    const pending: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const write = (name: string) => {
      writes.push(name);
      return new Promise<void>((resolve, reject) => void pending.push({ resolve, reject }));
    };
    const errors: string[] = [];
    const checkpoints = new TurnCheckpoints({
      store: unused<TurnCheckpointStore>('store', { put: () => write('put'), drop: () => write('drop') }),
      clock,
      onError: (_error, message) => void errors.push(message),
    });
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    const frameAfter = async (ms: number) => {
      clock.advance(ms);
      checkpoints.onFrame('i', () => ({}) as TurnCheckpoint);
      await settled();
      return writes.splice(0);
    };
    const end = async (error?: Error) => {
      for (const { resolve, reject } of pending.splice(0)) error ? reject(error) : resolve();
      await settled();
      return writes.splice(0);
    };
    return { checkpoints, frameAfter, end, errors };
  }

  test('are a second apart, and none is taken while one is written', async () => {
    const { frameAfter, end } = checkpointed();
    expect(await frameAfter(0)).toEqual(['put']);
    expect(await frameAfter(2000)).toEqual([]);
    await end();
    expect(await frameAfter(0)).toEqual(['put']);
    await end();
    expect(await frameAfter(999)).toEqual([]);
    expect(await frameAfter(1)).toEqual(['put']);
  });

  test('are dropped once, after the last one is written, and the next turn has its own at once', async () => {
    const { checkpoints, frameAfter, end } = checkpointed();
    checkpoints.onTurnEnded('i');
    expect(await frameAfter(0)).toEqual(['put']);
    checkpoints.onTurnEnded('i');
    checkpoints.onTurnEnded('i');
    expect(await frameAfter(0)).toEqual([]);
    expect(await end()).toEqual(['drop']);
    expect(await frameAfter(0)).toEqual([]);
    expect(await end()).toEqual([]);
    expect(await frameAfter(0)).toEqual(['put']);
  });

  test('are tried again 10 s after a failed write', async () => {
    const { frameAfter, end, errors } = checkpointed();
    await frameAfter(0);
    await end(new Error('down'));
    expect(errors).toEqual(['turn checkpoint write failed']);
    expect(await frameAfter(9999)).toEqual([]);
    expect(await frameAfter(1)).toEqual(['put']);
  });
});
