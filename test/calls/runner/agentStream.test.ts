import { describe, expect, test } from 'vitest';
import {
  answerCall,
  END,
  errorCodes,
  leg,
  loseStream,
  settle,
  streamActions,
  t,
  useRunner,
} from './support/runnerRig.ts';

useRunner();

describe('The agent stream of a call', () => {
  test('hangs up when an agent stream breaks that does not allow reconnection', async () => {
    t.canReconnect = false;
    await answerCall();
    await leg().mediaTells('streamClosed', { how: 'broken', code: 1006, reason: '' });
    expect(t.log[0]).toEqual(['hangup', 'a']);
    expect(streamActions()).toEqual([['hangup', 'a']]);
    expect(errorCodes()).toEqual(['engine_lost']);
    await leg().tells('ended', END);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'agent_hangup' }]);
  });

  test('passes DTMF digits received by signaling to the media session', async () => {
    await answerCall();
    leg().legEvents.emit('dtmf', { digit: '7', durationMs: 160 });
    expect(t.log).toEqual([['receive dtmf', '7']]);
  });

  test('is not hung up by its agent before the agent’s digits were sent', async () => {
    await answerCall();
    let resolve = () => {};
    t.dtmfSent = new Promise((done) => {
      resolve = done;
    });
    leg().mediaEvents.emit('command', { kind: 'send_dtmf', digits: '4711#' });
    await leg().mediaTells('command', { kind: 'hangup' });
    expect(t.log).toEqual([['dtmf', '4711#']]);
    resolve();
    await settle();
    expect(t.log).toEqual([
      ['dtmf', '4711#'],
      ['hangup', 'a'],
    ]);
  });

  test('opens a new agent stream when a voice node is lost, and records it in the history', async () => {
    await answerCall();
    loseStream();
    await settle();
    expect(streamActions()).toEqual([['open stream', 'ws://engine/']]);
    expect(errorCodes()).toEqual(['engine_lost']);
    await leg().tells('ended', { ...END, outcome: 'remote_hangup' });
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'caller_hangup' }]);
  });

  test('plays an apology and hangs up with agent_error after three quarters of a minute of failed attempts', async () => {
    await answerCall();
    t.isAgentAway = true;
    let resolve = () => {};
    t.apology = new Promise((done) => {
      resolve = done;
    });
    loseStream();
    const startMs = t.clock.monotonicMs();
    while (!streamActions().flat(1).includes('apology')) {
      t.clock.advance(100);
      await settle();
    }
    expect(t.clock.monotonicMs() - startMs).toBeGreaterThan(43_000);
    expect(t.log).toContainEqual(['ask to hold']);
    expect(streamActions().slice(0, -1)).toEqual(new Array(25).fill(['open stream', 'ws://engine/']));
    resolve();
    await settle();
    expect(streamActions().at(-1)).toEqual(['hangup', 'a']);
    expect(errorCodes()).toEqual(['engine_lost', 'engine_unavailable']);
    await leg().tells('ended', END);
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'agent_error' }]);
  });

  test('hangs up when the apology does not end in time', async () => {
    await answerCall();
    t.isAgentAway = true;
    t.apology = new Promise(() => {});
    loseStream();
    for (let second = 0; second < 60; second++) {
      t.clock.advance(1000);
      await settle();
    }
    expect(streamActions().slice(-2)).toEqual([['apology'], ['hangup', 'a']]);
  });
});
