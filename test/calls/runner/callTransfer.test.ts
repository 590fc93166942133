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
  useRunner,
} from './support/runnerRig.ts';

useRunner();

describe('A transfer', () => {
  test('runs the agent’s commands', async () => {
    await answerCall();
    leg().mediaEvents.emit('command', { kind: 'send_dtmf', digits: '12#' });
    leg().mediaEvents.emit('command', { kind: 'transfer', to: 'sip:refused' });
    await settle();
    expect(t.runner.transfer('call', '+886223456780')).toBe(true);
    await settle();
    expect(t.log).toEqual([
      ['dtmf', '12#'],
      ['transfer status', { status: 'begun', to: 'sip:refused' }],
      ['refer', 'sip:refused'],
      ['unbridge'],
      ['transfer status', { status: 'failed', to: 'sip:refused', reason: '603' }],
      ['event', 'transfer', { to: 'sip:refused', status: 'failed', by: 'refer', reason: '603' }],
      ['transfer status', { status: 'begun', to: '+886223456780' }],
      ['refer', '+886223456780'],
      ['hangup', 'a'],
      ['event', 'transfer', { to: '+886223456780', status: 'done', by: 'refer' }],
    ]);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
  });

  test('dials the target over the first trunk with a free channel and bridges both when the peer rejects REFER', async () => {
    await answerCall();
    t.fullTrunks.add('a');
    t.runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    t.clock.advance(500);
    await settle();
    expect(t.dialed.at(-1)).toMatchObject({
      trunk: { id: 'b' },
      fromNumber: CALL.fromNumber,
      targetUri: 'sip:second@pbx.example',
      ringTimeoutMs: 45_000,
      bridgeWith: leg().leg.media,
    });
    leg(1).legEvents.emit('ringing', { hasEarlyMedia: false });
    leg(1).legEvents.emit('ringing', { hasEarlyMedia: true });
    leg(1).legEvents.emit('answered', { atMs: 0 });
    await settle();
    expect(t.log.slice(2)).toEqual([
      ['dial', 'b', 'sip:second@pbx.example', 45_000],
      ['ringback'],
      ['bridge', 1],
      ['bridge', 1],
      ['close stream'],
      ['event', 'transfer', { to: 'sip:second@pbx.example', status: 'done', by: 'second_leg' }],
    ]);
    // A lost agent stream has no effect.
    leg().mediaEvents.emit('streamClosed', { how: 'broken', code: 1006, reason: '' });
    await settle();
    t.log.length = 0;
    leg(1).legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    expect(t.log).toEqual([
      ['release', 'b'],
      ['hangup', 'a'],
    ]);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
    expect(t.clock.pendingTimers()).toBe(0);
  });

  test('returns the caller to the agent when the target hangs up while being bridged', async () => {
    await answerCall();
    let resolve = () => {};
    t.bridging = new Promise((done) => {
      resolve = done;
    });
    t.runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg(1).legEvents.emit('answered', { atMs: 0 });
    leg(1).legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    resolve();
    await settle();
    const to = 'sip:second@pbx.example';
    const reason = 'remote_hangup: 200 OK';
    expect(t.log.slice(-3)).toEqual([
      ['unbridge'],
      ['transfer status', { status: 'failed', to, reason }],
      ['event', 'transfer', { to, status: 'failed', by: 'second_leg', reason }],
    ]);
    // A lost agent stream is opened again.
    t.log.length = 0;
    loseStream();
    await settle();
    expect(streamActions()).toEqual([['open stream', 'ws://engine/']]);
  });

  test('hangs up the target when the caller hangs up', async () => {
    await answerCall();
    t.runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg(1).legEvents.emit('answered', { atMs: 0 });
    await settle();
    t.log.length = 0;
    leg().legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    expect(t.log).toEqual([['hangup', 'a']]);
    leg(1).legEvents.emit('ended', END);
    await settle();
    expect(t.log.slice(1)).toEqual([
      ['release', 'a'],
      ['close media'],
      ['finish'],
      ['release', 'a'],
      ['ended', 'call'],
    ]);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
  });

  test('cancels the ringing target when the caller hangs up', async () => {
    await answerCall();
    t.runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg().legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    leg(1).legEvents.emit('ended', { ...END, outcome: 'canceled', sip: null });
    await settle();
    const reason = 'the caller hung up';
    expect(t.log).toContainEqual([
      'event',
      'transfer',
      { to: 'sip:second@pbx.example', status: 'failed', by: 'second_leg', reason },
    ]);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'caller_hangup' }]);
  });

  test.each<[string, LegEnd[], number, string]>([
    [
      'is busy',
      [{ outcome: 'busy', sip: { code: 486, reason: 'Busy Here' }, q850Cause: 17 }],
      1,
      'busy: 486 Busy Here',
    ],
    [
      'cannot be reached over any trunk',
      [
        { outcome: 'trunk_error', sip: { code: 503, reason: 'Unavailable' }, q850Cause: null },
        { outcome: 'unreachable', sip: null, q850Cause: null },
      ],
      2,
      'unreachable',
    ],
  ])('returns the caller to the agent when the target %s', async (_what, ends, tried, reason) => {
    await answerCall();
    t.runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    for (const [index, end] of ends.entries()) {
      leg(index + 1).legEvents.emit('ended', end);
      await settle();
    }
    expect(t.legs.length).toBe(1 + tried);
    const to = 'sip:second@pbx.example';
    expect(t.log.slice(-3)).toEqual([
      ['unbridge'],
      ['transfer status', { status: 'failed', to, reason }],
      ['event', 'transfer', { to, status: 'failed', by: 'second_leg', reason }],
    ]);
    expect(t.runner.active).toBe(1);
    expect(t.runner.transfer('call', '+886223456780')).toBe(true);
  });

  test('does not dial a transfer target when the project has no budget left', async () => {
    await answerCall();
    t.hasBudget = false;
    t.runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    expect(t.legs).toHaveLength(1);
    const reason = 'this project has used its call minutes or its call budget of today';
    const data = { to: 'sip:second@pbx.example', status: 'failed', by: 'second_leg', reason };
    expect(t.log).toContainEqual(['event', 'transfer', data]);
  });

  test('does not dial a target on a peer’s request', async () => {
    await answerCall();
    leg().legEvents.emit('transferRequested', { to: 'sip:second@pbx.example' });
    await settle();
    expect(t.dialed).toHaveLength(1);
    const data = { to: 'sip:second@pbx.example', status: 'failed', by: 'refer' };
    expect(t.log).toContainEqual(['event', 'transfer', expect.objectContaining(data)]);
  });

  test('refuses a transfer to a blocked destination and continues the call', async () => {
    await answerCall();
    t.runner.transfer('call', 'sip:forbidden');
    await settle();
    const reason = 'This project may not call sip:forbidden';
    const data = { to: 'sip:forbidden', status: 'failed', by: 'refer', reason };
    expect(t.log).toContainEqual(['event', 'transfer', data]);
    expect(t.log).toContainEqual(['transfer status', { status: 'failed', to: 'sip:forbidden', reason }]);
    expect(t.log.map((entry) => (entry as string[])[0])).not.toContain('refer');
  });
});
