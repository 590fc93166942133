import { describe, expect, test } from 'vitest';
import type { LegEnd } from '../../../src/calls/telephony.ts';
import {
  answerCall,
  CALL,
  END,
  leg,
  loseStream,
  settle,
  streamActions,
  t,
  transfer,
  useRunner,
} from './support/runnerRig.ts';

useRunner();

/** Of the transfers, in order: status, target and how the target ended. */
const steps = () =>
  t.log.flatMap((entry) => {
    const [kind, type, data] = entry as [string, string?, Record<string, unknown>?];
    if (kind !== 'event' || type !== 'transfer' || !data) return [];
    return [[data.status, data.to, ...(data.outcome ? [data.outcome, data.reason] : [])]];
  });
const TO = 'sip:second@pbx.example';
const BUSY: LegEnd = { outcome: 'busy', sip: { code: 486, reason: 'Busy Here' }, q850Cause: 17 };

/** Without what is only told or stored. */
const actions = () =>
  t.log.filter(
    (entry) => !/^(update|event|transfer status|release|party)/.test(String((entry as string[])[0])),
  );

describe('A blind transfer', () => {
  test('dials the target over the first trunk with a free channel, bridges both, and never tries REFER', async () => {
    await answerCall();
    t.fullTrunks.add('a');
    void transfer(TO);
    await settle();
    expect(t.dialed.at(-1)).toMatchObject({
      trunk: { id: 'b' },
      fromNumber: CALL.fromNumber,
      targetUri: TO,
      ringTimeoutMs: 30_000,
      bridgeWith: leg().leg.media,
    });
    leg(1).legEvents.emit('ringing', { hasEarlyMedia: false });
    leg(1).legEvents.emit('ringing', { hasEarlyMedia: true });
    await leg(1).tells('answered', { atMs: 0 });
    expect(actions()).toEqual([
      ['dial', 'b', TO, 30_000],
      ['ringback'],
      ['bridge', 1],
      ['bridge', 1],
      ['close stream'],
    ]);
    // A lost agent stream has no effect.
    loseStream();
    await settle();
    t.log.length = 0;
    await leg(1).tells('ended', { ...END, outcome: 'remote_hangup' });
    expect(t.log).toEqual([
      ['release', 'b'],
      ['hangup', 'a'],
    ]);
    await leg().tells('ended', END);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
    expect(t.clock.pendingTimers()).toBe(0);
  });

  test('returns the caller to the agent when the target hangs up while being bridged', async () => {
    await answerCall();
    let resolve = () => {};
    t.bridging = new Promise((done) => {
      resolve = done;
    });
    void transfer(TO);
    await settle();
    leg(1).legEvents.emit('answered', { atMs: 0 });
    await leg(1).tells('ended', { ...END, outcome: 'remote_hangup' });
    resolve();
    await settle();
    expect(steps()).toEqual([
      ['started', TO],
      ['accepted', TO],
      ['failed', TO, 'failed', 'hung up'],
    ]);
    expect(t.log).toContainEqual([
      'transfer status',
      { status: 'failed', to: TO, outcome: 'failed', reason: 'hung up' },
    ]);
    // A lost agent stream is opened again.
    t.log.length = 0;
    loseStream();
    await settle();
    expect(streamActions()).toEqual([['open stream', 'ws://engine/']]);
  });

  test('hangs up the target when the caller hangs up', async () => {
    await answerCall();
    void transfer(TO);
    await settle();
    await leg(1).tells('answered', { atMs: 0 });
    t.log.length = 0;
    await leg().tells('ended', { ...END, outcome: 'remote_hangup' });
    expect(t.log).toEqual([['hangup', 'a']]);
    await leg(1).tells('ended', END);
    expect(t.log.slice(1)).toEqual([
      ['release', 'a'],
      ['close media'],
      ['finish'],
      ['release', 'a'],
      ['ended', 'call'],
    ]);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
  });

  test.each([
    ['has no budget left', TO, false, 'no minutes are left'],
    ['may not call the target', 'sip:forbidden', true, 'This project may not call sip:forbidden'],
  ])('is not dialed when the project %s', async (_what, to, hasBudget, reason) => {
    await answerCall();
    t.hasBudget = hasBudget;
    void transfer(to);
    await settle();
    expect(t.legs).toHaveLength(1);
    expect(steps().at(-1)).toEqual(['failed', to, 'failed', reason]);
  });

  test('fails where no trunk has room, and a target whose audio is lost is hung up', async () => {
    await answerCall();
    t.fullTrunks = new Set(['a', 'b']);
    void transfer(TO);
    await settle();
    const reason = 'no trunk of the number has room for another call';
    expect(steps().at(-1)).toEqual(['failed', TO, 'failed', reason]);
    t.fullTrunks = new Set();
    void transfer(TO);
    await settle();
    await leg(1).tells('answered', { atMs: 0 });
    t.log.length = 0;
    await leg(1).mediaTells('lost', { reason: 'the thread ended' });
    expect(t.log[0]).toEqual(['hangup', 'a']);
  });

  test('is started by the first of several requests at once', async () => {
    await answerCall();
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => transfer(TO).catch(({ code }: { code: string }) => code)),
    );
    expect(codes).toEqual([null, ...Array(19).fill('transfer_in_progress')]);
    await settle();
    expect(t.legs).toHaveLength(2);
  });

  test('of a bot with options that nobody understands fails with a reason', async () => {
    await answerCall();
    await leg().mediaTells('command', { kind: 'transfer', to: TO, options: { mode: 'magic' } });
    expect(t.legs).toHaveLength(1);
    expect(steps()).toMatchObject([['failed', TO, 'failed', expect.stringContaining('mode')]]);
    await expect(transfer(TO)).resolves.toBeNull();
  });
});

describe('A transfer by REFER', () => {
  const REFER = { mode: 'refer' };

  test('that the peer refuses leaves the call as it was; one that it makes ends it', async () => {
    await answerCall();
    leg().mediaEvents.emit('command', { kind: 'send_dtmf', digits: '12#' });
    await leg().mediaTells('command', { kind: 'transfer', to: 'sip:refused', options: REFER });
    await expect(transfer('+886223456780', REFER)).resolves.toBeNull();
    await settle();
    expect(actions()).toEqual([
      ['dtmf', '12#'],
      ['refer', 'sip:refused'],
      ['refer', '+886223456780'],
      ['hangup', 'a'],
    ]);
    expect(steps()).toEqual([
      ['started', 'sip:refused'],
      ['failed', 'sip:refused', 'failed', '603'],
      ['started', '+886223456780'],
      ['joined', '+886223456780'],
    ]);
    await leg().tells('ended', END);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
  });

  test('is made by a leg where the peer takes no REFER', async () => {
    await answerCall();
    void transfer(TO, REFER);
    await settle();
    expect(actions()).toEqual([
      ['refer', TO],
      ['dial', 'a', TO, 30_000],
    ]);
  });

  test('is not made by a leg on a peer’s request', async () => {
    await answerCall();
    await leg().tells('transferRequested', { to: TO });
    expect(t.dialed).toHaveLength(1);
    expect(steps().at(-1)).toEqual(['failed', TO, 'failed', '405']);
  });
});

describe('A warm transfer', () => {
  const WARM = { mode: 'warm', acceptBy: 'digit', acceptDigit: '5', announce: '{{ summary }}' };

  /** The target has answered and is told about the call. */
  async function brief(options: object = WARM) {
    await answerCall();
    void transfer(TO, { ...options });
    await settle();
    await leg(1).tells('answered', { atMs: t.clock.now() });
  }

  test('plays music while the agent tells the target, and joins both when it accepts', async () => {
    await brief();
    expect(actions()).toEqual([
      ['music', 'default'],
      ['dial', 'a', TO, 30_000],
      ['record aside', 1],
      ['open stream', 'ws://engine/briefing'],
    ]);
    expect(t.log).toContainEqual([
      'party',
      { kind: 'briefing', to: TO, acceptBy: 'digit', acceptDigit: '5', announce: '{{ summary }}' },
    ]);
    t.clock.advance(5_000);
    t.log.length = 0;
    await leg(1).mediaTells('dtmf', { digit: '5', durationMs: 100 });
    expect(actions()).toEqual([['close stream'], ['bridge', 1], ['stop music'], ['close stream']]);
    expect(t.log).toContainEqual([
      'event',
      'transfer',
      {
        status: 'joined',
        to: TO,
        mode: 'warm',
        by: 'second_leg',
        recording: { left: [CALL.toNumber], right: [TO], atMs: 5_000 },
      },
    ]);
    expect(t.stored.transfer).toMatchObject({ status: 'joined', outcome: 'joined', mode: 'warm', to: TO });
    t.clock.advance(30_000);
    await settle();
    await leg(1).tells('ended', { ...END, outcome: 'remote_hangup' });
    await leg().tells('ended', END);
    // The call was outbound: the caller's leg and the target's are billed.
    expect(t.billed.at(-1)?.map(([to]) => to)).toEqual([CALL.toNumber, TO]);
    expect(t.finished).toMatchObject([{ endReason: 'transferred' }]);
    expect(t.clock.pendingTimers()).toBe(0);
  });

  test('returns the caller, without music, when the target refuses', async () => {
    await brief();
    t.log.length = 0;
    await leg(1).mediaTells('dtmf', { digit: '2', durationMs: 100 });
    expect(actions()).toEqual([['hangup', 'a'], ['stop music'], ['unbridge']]);
    expect(steps()).toEqual([['refused', TO, 'refused', 'pressed 2']]);
  });

  test('tells the caller how far it is', async () => {
    await brief();
    await leg(1).tells('ended', BUSY);
    const told = t.log.filter((entry) => (entry as string[])[0] === 'transfer status');
    expect(told.map((entry) => (entry as [string, { status: string }])[1].status)).toEqual([
      'begun',
      'answered',
      'failed',
    ]);
    t.log.length = 0;
    void transfer(TO, WARM);
    await settle();
    t.clock.advance(20_000);
    await settle();
    expect(t.log).toContainEqual(['transfer status', { status: 'waiting', to: TO }]);
  });

  test('gives up a target that does not accept in time, and dials the next one', async () => {
    await answerCall();
    void transfer(TO, { ...WARM, targets: [TO, 'sip:third@pbx.example'], timeoutSeconds: 5 });
    await settle();
    await leg(1).tells('answered', { atMs: t.clock.now() });
    t.clock.advance(5_000);
    await settle();
    expect(actions().slice(-2)).toEqual([
      ['hangup', 'a'],
      ['dial', 'a', 'sip:third@pbx.example', 5_000],
    ]);
    expect(steps().at(-2)).toEqual(['failed', TO, 'no_answer', 'not accepted in time']);
    expect(t.stored.transfer).toMatchObject({ outcome: null, to: 'sip:third@pbx.example' });
  });

  test('cancels the other targets when one accepts, and has both sides listened to', async () => {
    await answerCall();
    const targets = [TO, 'sip:third@pbx.example'];
    void transfer(TO, {
      mode: 'warm',
      targets,
      strategy: 'simultaneous',
      holdMusic: 'none',
      afterJoin: 'listen',
    });
    await settle();
    await leg(2).tells('answered', { atMs: t.clock.now() });
    t.log.length = 0;
    await leg(2).mediaTells('command', { kind: 'briefing', outcome: 'told' });
    expect(actions()).toEqual([
      ['hangup', 'a'],
      ['close stream'],
      ['bridge', 2],
      ['stop music'],
      ['close stream'],
      ['open stream', 'ws://engine/listener'],
      ['open stream', 'ws://engine/listener'],
    ]);
    expect(steps()).toEqual([
      ['accepted', targets[1]],
      ['canceled', TO],
      ['joined', targets[1]],
    ]);
  });

  test('joins a target that answers although the agent cannot speak to it', async () => {
    t.isAgentAway = true;
    await brief({ mode: 'warm' });
    expect(steps().at(-1)).toEqual(['joined', TO]);
  });
});

describe('A warm transfer on a trunk whose transfers are by REFER', () => {
  const REPLACES = ['refer', 'sip:phone@a?Replaces=x'];
  const ACCEPTED = ['accepted', TO];
  let replaced: (failure?: Error) => void;

  /** The target has accepted by staying. */
  async function join(options: object = {}, isTrunkFull = false): Promise<void> {
    t.replaced = new Promise((resolve, reject) => {
      replaced = (failure) => (failure ? reject(failure) : resolve());
    });
    await answerCall(undefined, 'refer');
    if (isTrunkFull) t.fullTrunks.add('a');
    void transfer(TO, { mode: 'warm', ...options });
    await settle();
    t.clock.advance(500);
    await settle();
    const target = t.legs.length - 1;
    await leg(target).tells('answered', { atMs: 0 });
    await leg(target).mediaTells('command', { kind: 'briefing', outcome: 'told' });
  }

  test('lets both talk, has the peer put a call of its own in the place of ours, and hangs up', async () => {
    await join();
    expect(actions().slice(-5)).toEqual([
      ['close stream'],
      ['bridge', 1],
      ['stop music'],
      ['close stream'],
      REPLACES,
    ]);
    t.log.length = 0;
    replaced();
    await settle();
    expect(actions()).toEqual([
      ['hangup', 'a'],
      ['hangup', 'a'],
    ]);
    expect(steps()).toEqual([['handed_over', TO]]);
    expect(t.stored.transfer).toMatchObject({ status: 'joined', outcome: 'joined' });
    for (const index of [1, 0]) await leg(index).tells('ended', END);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
    expect(t.clock.pendingTimers()).toBe(0);
  });

  test('leaves both talking through us where the peer refuses', async () => {
    await join();
    t.log.length = 0;
    replaced(new Error('The transfer failed: 420 Bad Extension'));
    await settle();
    expect([actions(), steps()]).toEqual([[], [['not_handed_over', TO]]]);
    await leg(1).tells('ended', { ...END, outcome: 'remote_hangup' });
    expect(actions()).toEqual([['hangup', 'a']]);
  });

  test.each([
    ['the peer to say how it went', () => replaced()],
    ['three seconds at most', () => t.clock.advance(3_000)],
  ])('waits, when the target leaves first, for %s', async (_what, happens) => {
    await join();
    t.log.length = 0;
    await leg(1).tells('ended', { ...END, outcome: 'remote_hangup' });
    expect(actions()).toEqual([]);
    happens();
    await settle();
    expect(actions()).toEqual([['hangup', 'a']]);
    leg().legEvents.emit('ended', END);
    replaced();
    await settle();
    expect(t.finished).toMatchObject([{ endReason: 'transferred' }]);
    expect(t.clock.pendingTimers()).toBe(0);
  });

  test.each([
    ['the target is on another trunk', {}, true],
    ['the agent goes on listening', { afterJoin: 'listen' }, false],
  ])('asks for nothing when %s', async (_when, options, isTrunkFull) => {
    await join(options, isTrunkFull);
    expect(steps().slice(-2)).toEqual([ACCEPTED, ['joined', TO]]);
    expect(t.log).not.toContainEqual(REPLACES);
  });
});

test('While one of two joined parties holds, the other one hears music', async () => {
  await answerCall();
  void transfer(TO);
  await settle();
  await leg(1).tells('answered', { atMs: 0 });
  t.log.length = 0;
  await leg(1).tells('held', { isHeld: true });
  await leg(1).tells('held', { isHeld: false });
  await leg().tells('held', { isHeld: true });
  await leg().tells('held', { isHeld: false });
  expect(t.log).toEqual([['music', 'default'], ['stop music'], ['music', 'default'], ['stop music']]);
});
