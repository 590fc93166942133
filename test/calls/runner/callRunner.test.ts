import { describe, expect, test } from 'vitest';
import { type Call, RECORDING_RUNS } from '../../../src/calls/call.ts';
import { maskNumber } from '../../../src/calls/numbers/number.ts';
import {
  answerCall,
  CALL,
  END,
  errorCodes,
  leg,
  REPORT,
  settle,
  t,
  trunk,
  useRunner,
} from './support/runnerRig.ts';

useRunner();

describe('CallRunner', () => {
  describe('before the first INVITE', () => {
    const QUEUED: Call = { ...CALL, status: 'queued', trunkId: null };
    const dialQueued = async (store: (change: object) => Call | undefined) => {
      t.onUpdate = store;
      t.runner.dial({ ...QUEUED, trunkId: 'a' }, [trunk('a'), trunk('b')]);
      await settle();
    };

    test('stores the status dialing, so that a crash does not lead to a second call', async () => {
      await dialQueued((change) => ({ ...QUEUED, ...change }));
      const at = new Date(t.clock.now()).toISOString();
      expect(t.log.slice(0, 2)).toEqual([
        ['update', { status: 'dialing', startedAt: at, trunkId: 'a' }],
        ['dial', 'a', CALL.toNumber, 45_000],
      ]);
      await leg().tells('ended', { outcome: 'unreachable', sip: null, q850Cause: null });
      // Stored once, not again for the next trunk.
      expect(t.log.findLast((entry) => /^update/.test(String(entry)))).toMatchObject([
        'update',
        { trunkId: 'b' },
      ]);
      expect(t.dialed.map((request) => request.trunk.id)).toEqual(['a', 'b']);
    });

    test('waits while the database is away', async () => {
      t.updateFailures = 1;
      await dialQueued((change) => ({ ...QUEUED, ...change }));
      expect(t.dialed).toEqual([]);
      t.clock.advance(500);
      await settle();
      expect(t.dialed).toHaveLength(1);
    });

    test.each<[string, Call | undefined, string, string]>([
      ['was canceled', { ...QUEUED, hangupRequested: true }, 'canceled', 'api_hangup'],
      ['belongs to another node', undefined, 'failed', 'node_lost'],
    ])('dials nothing when the call %s', async (_what, stored, status, endReason) => {
      await dialQueued(() => stored);
      expect(t.dialed).toEqual([]);
      expect(t.finished).toMatchObject([{ status, endReason }]);
      expect(t.runner.active).toBe(0);
    });
  });

  test('passes on the numbers as given in the request', async () => {
    const asGiven = { fromNumber: '0223456789', toNumber: '0912345678' };
    t.runner.dial({ ...CALL, settings: { ...CALL.settings, asGiven } }, [trunk('a')]);
    await settle();
    expect(t.dialed.at(-1)?.asGiven).toEqual(asGiven);
  });

  test('dials a call, records it and opens the agent stream', async () => {
    t.runner.dial(CALL, [trunk('a'), trunk('b')]);
    await settle();
    await leg().tells('ringing', { hasEarlyMedia: false });
    t.clock.advance(1000);
    await leg().tells('answered', { atMs: t.clock.now() });
    expect(t.runner.active).toBe(1);
    expect(t.log).toEqual([
      ['dial', 'a', '+886912345678', 45_000],
      [
        'update',
        { status: 'dialing', startedAt: '2026-01-01T00:00:00.000Z', trunkId: 'a', sipCallId: 'sip-a' },
      ],
      ['update', { status: 'ringing' }],
      ['record', '/recordings/call.wav'],
      [
        'update',
        { status: 'in_progress', answeredAt: '2026-01-01T00:00:01.000Z', recording: RECORDING_RUNS },
      ],
      ['open stream', 'ws://engine/'],
    ]);
  });

  test('stores the end of a call and releases its channel when the leg has ended', async () => {
    await answerCall();
    await leg().tells('ended', { ...END, outcome: 'remote_hangup' });
    expect(t.log).toEqual([['close media'], ['finish'], ['release', 'a'], ['ended', 'call']]);
    expect(t.metrics[0]).toEqual(['started', 'outbound']);
    expect(t.metrics.at(-1)).toEqual(['ended', 'outbound', 'completed', REPORT]);
    expect(t.finished).toEqual([
      {
        status: 'completed',
        endReason: 'caller_hangup',
        sip: { code: 200, reason: 'OK' },
        q850Cause: 16,
        endedAt: new Date(t.clock.now()).toISOString(),
        mediaQuality: null,
        legs: [],
      },
    ]);
    expect(t.runner.active).toBe(0);
    expect(t.clock.pendingTimers()).toBe(0);
  });

  test('tries the next trunk, and fails when that has no free channel', async () => {
    t.fullTrunks.add('b');
    t.runner.dial(CALL, [trunk('a'), trunk('b')]);
    await settle();
    await leg().tells('ended', {
      outcome: 'trunk_error',
      sip: { code: 503, reason: 'x' },
      q850Cause: null,
    });
    expect(t.legs).toHaveLength(1);
    expect(t.finished).toMatchObject([{ status: 'failed', endReason: 'trunk_error' }]);

    t.fullTrunks.clear();
    t.legs.length = 0;
    t.runner.dial(CALL, [trunk('a'), trunk('b')]);
    await settle();
    await leg().tells('ended', { outcome: 'unreachable', sip: null, q850Cause: null });
    expect(t.legs).toHaveLength(2);
    expect(t.log).toContainEqual(['dial', 'b', '+886912345678', 45_000]);
    // An event of an earlier leg has no effect.
    leg(0).legEvents.emit('ended', { outcome: 'busy', sip: { code: 486, reason: 'x' }, q850Cause: null });
    await leg(1).tells('ended', { outcome: 'busy', sip: { code: 486, reason: 'x' }, q850Cause: null });
    expect(t.finished.at(-1)).toMatchObject({ status: 'busy' });
  });

  test('hangs up on request, also before a leg was dialed', async () => {
    t.runner.dial(CALL, [trunk('a')]);
    expect(t.runner.hangUp('call', 'api_hangup')).toBe(true);
    expect(t.runner.hangUp('other', 'api_hangup')).toBe(false);
    await settle();
    expect(t.log).toContainEqual(['hangup', 'a']);
    await leg().tells('ended', { ...END, outcome: 'canceled' });
    expect(t.finished).toMatchObject([{ status: 'canceled', endReason: 'api_hangup' }]);
  });

  test('hangs up after the maximum duration, on media timeout and on lost media', async () => {
    await answerCall();
    t.clock.advance(60_000);
    expect(t.log).toContainEqual(['hangup', 'a']);
    await leg().tells('ended', END);
    expect(t.finished.at(-1)).toMatchObject({ status: 'completed', endReason: 'max_duration' });

    t.legs.length = 0;
    await answerCall();
    leg().mediaEvents.emit('mediaTimeout', { forMs: 60_000 });
    await leg().tells('ended', END);
    expect(t.finished.at(-1)).toMatchObject({ endReason: 'media_timeout' });

    t.legs.length = 0;
    await answerCall();
    leg().mediaEvents.emit('lost', { reason: 'the thread ended' });
    await leg().tells('ended', END);
    expect(t.finished.at(-1)).toMatchObject({ status: 'failed', endReason: 'node_lost' });
    expect(t.log).toContainEqual(['event', 'error', { code: 'media_lost', message: 'the thread ended' }]);
  });

  test('stores every change in order after the database was away', async () => {
    t.updateFailures = 2;
    await answerCall();
    expect(t.log).toEqual([]);
    await leg().tells('ended', { ...END, outcome: 'remote_hangup' });
    expect(t.finished).toEqual([]);
    t.clock.advance(500);
    await settle();
    t.clock.advance(1000);
    await settle();
    expect(t.log.filter((entry) => Array.isArray(entry) && entry[0] === 'update')).toEqual([
      [
        'update',
        { status: 'dialing', startedAt: '2026-01-01T00:00:00.000Z', trunkId: 'a', sipCallId: 'sip-a' },
      ],
      ['update', { status: 'ringing' }],
      [
        'update',
        { status: 'in_progress', answeredAt: '2026-01-01T00:00:00.000Z', recording: RECORDING_RUNS },
      ],
    ]);
    expect(t.finished).toHaveLength(1);
  });

  test('drains: waits for calls to end, and hangs up the rest after the grace time', async () => {
    await answerCall();
    let drained = false;
    const draining = t.runner.drain(10_000).then(() => {
      drained = true;
    });
    t.clock.advance(9999);
    await settle();
    expect(t.log.filter((entry) => Array.isArray(entry) && entry[0] === 'hangup')).toEqual([]);
    t.clock.advance(1);
    await settle();
    expect(t.log).toContainEqual(['hangup', 'a']);
    expect(drained).toBe(false);
    await leg().tells('ended', END);
    await draining;
    expect(drained).toBe(true);
  });

  test('traces the phases of a call and logs its steps', async () => {
    t.runner.dial({ ...CALL, createdAt: new Date(t.clock.now() - 700).toISOString() }, [trunk('a')]);
    await settle();
    t.clock.advance(2000);
    leg().legEvents.emit('ringing', { hasEarlyMedia: false });
    leg().legEvents.emit('answered', { atMs: t.clock.now() });
    t.clock.advance(3000);
    await settle();
    await leg().tells('ended', END);
    const own = t.traces.spans.map(({ name, parent, startMs, endMs }) => [
      name,
      parent,
      (endMs ?? NaN) - startMs,
    ]);
    expect(own).toEqual([
      ['call', undefined, 5700],
      ['queued', 'call', 700],
      ['dial', 'call', 2000],
      ['talk', 'call', 3000],
    ]);
    expect(t.traces.spans[0]?.attributes).toMatchObject({
      'callway.call.id': 'call',
      'callway.call.status': 'completed',
      'callway.sip.status_code': 200,
    });
    const about = {
      callId: 'call',
      direction: 'outbound',
      from: maskNumber(CALL.fromNumber),
      to: maskNumber(CALL.toNumber),
    };
    expect(t.logLines).toEqual([
      [expect.objectContaining({ ...about, trunkId: 'a' }), 'call dialing'],
      [expect.objectContaining(about), 'call answered'],
      [expect.objectContaining({ ...about, status: 'completed', durationMs: 3000 }), 'call ended'],
    ]);
    expect(JSON.stringify(t.logLines)).not.toContain(CALL.toNumber);
  });
});

test('A recording that cannot be started, or breaks off, is told in the history, and the call goes on', async () => {
  let breakOff = (_error: Error): void => undefined;
  const startRecording = () =>
    new Promise<void>((_, reject) => {
      breakOff = reject;
    });
  await answerCall(async () => void Object.assign(leg().leg.media ?? {}, { startRecording }));
  breakOff(new Error('disk full'));
  await settle();
  await leg().mediaTells('recordingFailed', { reason: 'disk full' });
  expect(errorCodes()).toEqual(['recording_failed', 'recording_failed']);
  expect(t.runner.active).toBe(1);
});

test('A hang-up that was requested elsewhere ends the call with its next change', async () => {
  t.runner.dial(CALL, [trunk('a')]);
  await settle();
  t.onUpdate = (change) => ({ ...CALL, ...change, hangupRequested: true });
  await leg().tells('ringing', { hasEarlyMedia: false });
  expect(t.log.at(-1)).toEqual(['hangup', 'a']);
});
