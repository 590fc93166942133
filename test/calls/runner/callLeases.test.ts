import { describe, expect, test } from 'vitest';
import {
  answerCall,
  CALL,
  END,
  fakeLeg,
  leg,
  settle,
  t,
  transfer,
  trunk,
  useRunner,
} from './support/runnerRig.ts';

useRunner();

describe('A running call', () => {
  test.each([
    ['another node has ended it as lost', { status: 'failed', endReason: 'node_lost' }],
    ['another node runs it', { nodeId: 'other' }],
  ] as const)('hangs up a call that it no longer owns: %s', async (_what, change) => {
    await answerCall();
    t.stored = { ...t.stored, ...change };
    t.clock.advance(15_000);
    await settle();
    expect(t.log).toContainEqual(['hangup', 'a']);
  });

  test('renews its leases, and finds a hang-up request whose message was lost', async () => {
    await answerCall();
    t.stored = { ...t.stored, hangupRequested: true };
    t.clock.advance(15_000);
    await settle();
    expect(t.log).toEqual([['renew lock'], ['hangup', 'a']]);
  });

  test('takes the lock of its number again that Redis has lost', async () => {
    await answerCall();
    t.isLockLost = true;
    t.clock.advance(15_000);
    await settle();
    expect(t.log).toEqual([['renew lock'], ['take lock']]);
  });

  test('finds a hang-up request while Redis is away', async () => {
    await answerCall();
    t.stored = { ...t.stored, hangupRequested: true };
    t.isRedisAway = true;
    t.clock.advance(15_000);
    await settle();
    expect(t.log).toEqual([['renew lock'], ['hangup', 'a']]);
  });

  test('records the talk time of a call, each moment once', async () => {
    await answerCall();
    for (const passedMs of [15_000, 15_000, 5_000]) {
      t.clock.advance(passedMs);
      await settle();
    }
    await leg().tells('ended', END);
    expect(t.talkTimesMs).toEqual([15_000, 15_000, 5_000]);
  });

  test('records no talk time for an inbound caller, only for the bridged target', async () => {
    const incoming = fakeLeg({ trunk: trunk('a') });
    t.legs.push(incoming);
    t.runner.accept({ ...CALL, direction: 'inbound', trunkId: 'a' }, incoming.leg, undefined);
    incoming.legEvents.emit('answered', { atMs: t.clock.now() });
    await settle();
    t.clock.advance(15_000);
    await settle();
    void transfer('sip:second@pbx.example');
    await settle();
    await leg(1).tells('answered', { atMs: 0 });
    t.clock.advance(15_000);
    await settle();
    expect(t.billed).toEqual([[], [['sip:second@pbx.example', 15_000]]]);
  });

  test('hangs up a call when its project has no minutes left', async () => {
    await answerCall();
    t.hasBudget = false;
    t.clock.advance(15_000);
    await settle();
    expect(t.log).toContainEqual(['hangup', 'a']);
    await leg().tells('ended', END);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'max_duration' }]);
  });
});
