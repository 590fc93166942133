import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CallEffect,
  type CallEvent,
  type CallState,
  inboundCall,
  outboundCall,
  transitionCall,
} from '../../../src/calls/runner/callMachine.ts';
import type { LegEnd, LegOutcome } from '../../../src/calls/telephony.ts';

const ended = (outcome: LegOutcome, code?: number): CallEvent & { end: LegEnd } => ({
  type: 'leg_ended',
  end: { outcome, sip: code === undefined ? null : { code, reason: 'x' }, q850Cause: null },
});
const ringing: CallEvent = { type: 'leg_ringing' };
const answered: CallEvent = { type: 'leg_answered' };
const open: CallEvent = { type: 'stream_open' };
const failed: CallEvent = { type: 'stream_failed', isInternal: true };
const api: CallEvent = { type: 'hang_up', intent: 'api_hangup' };

/** Runs the events, and returns the effects of each. */
function play(initial: CallState, events: readonly CallEvent[]) {
  let state = initial;
  const effects = events.map((event) => {
    const step = transitionCall(state, event);
    state = step.state;
    return step.effects;
  });
  return { state, effects, last: effects.at(-1) ?? [] };
}

const names = (effects: readonly CallEffect[]) => effects.map(({ type }) => type);
const resultIn = (effects: readonly CallEffect[]) => {
  const [finish] = effects.filter((effect) => effect.type === 'finish');
  return finish ? [finish.result.status, finish.result.endReason] : undefined;
};

describe('Call machine: a call', () => {
  test('rings, is answered, connects to the agent, and ends when the caller hangs up', () => {
    const { effects } = play(outboundCall(1), [ringing, answered, open, ended('remote_hangup', 200)]);
    expect(effects.map(names)).toEqual([
      ['store_status'],
      ['store_status', 'start', 'open_stream'],
      [],
      ['finish'],
    ]);
    expect(resultIn(effects[3] ?? [])).toEqual(['completed', 'caller_hangup']);
  });

  test('tries each further trunk once, and only when the trunk itself failed', () => {
    const { effects } = play(outboundCall(3), [
      ended('trunk_error', 503),
      ended('unreachable'),
      ended('trunk_error', 500),
    ]);
    expect(effects.map(names)).toEqual([['dial_next'], ['dial_next'], ['finish']]);
    expect(resultIn(effects[2] ?? [])).toEqual(['failed', 'trunk_error']);

    const declined = play(outboundCall(3), [ringing, ended('declined', 603)]);
    expect(resultIn(declined.last)).toEqual(['failed', 'declined']);
  });

  test('hung up while ringing is canceled, and no other trunk is tried', () => {
    const { effects } = play(outboundCall(3), [ringing, api, ended('trunk_error', 503)]);
    expect(effects.map(names)).toEqual([['store_status'], ['hang_up'], ['finish']]);
    expect(resultIn(effects[2] ?? [])).toEqual(['canceled', 'api_hangup']);
  });

  test('whose answer crossed our CANCEL opens no agent stream', () => {
    const { effects } = play(outboundCall(1), [ringing, api, answered, ended('canceled', 200)]);
    expect(effects.map(names)).toEqual([['store_status'], ['hang_up'], [], ['finish']]);
    expect(resultIn(effects[3] ?? [])).toEqual(['canceled', 'api_hangup']);
  });

  test('ends when the agent stops its stream', () => {
    const { effects } = play(inboundCall(), [
      answered,
      open,
      { type: 'stream_closed', how: 'stopped' },
      ended('local_hangup', 200),
    ]);
    expect(names(effects[2] ?? [])).toEqual(['hang_up']);
    expect(resultIn(effects[3] ?? [])).toEqual(['completed', 'agent_hangup']);
  });

  test.each([
    [undefined, 'agent_hangup'],
    ['error', 'agent_error'],
    ['not_understood', 'not_understood'],
  ] as const)('is completed when the agent hangs up with the reason %s', (reason, endReason) => {
    const command: CallEvent = { type: 'command', command: { kind: 'hangup', reason } };
    const { last } = play(inboundCall(), [answered, open, command, ended('local_hangup', 200)]);
    expect(resultIn(last)).toEqual(['completed', endReason]);
  });

  test('reopens a broken agent stream with growing delays, and then hangs up with an apology', () => {
    const waits = (effects: readonly CallEffect[]) =>
      effects.map((effect) => (effect.type === 'open_stream' ? effect.afterMs : effect.type));
    const broken: CallEvent = { type: 'stream_closed', how: 'broken' };
    const { effects, last, state } = play(inboundCall(), [
      answered,
      open,
      broken,
      ...new Array(25).fill(failed),
    ]);
    const steps = [[0], [200], [500], [1000], ...new Array(21).fill([2000]), ['hang_up']];
    expect(effects.slice(2).map(waits)).toEqual(steps);
    expect(last).toEqual([{ type: 'hang_up', withApology: true }]);
    expect(state.intent).toBe('agent_error');
  });

  test('that never reached its customer’s bot is hung up sooner, without an apology', () => {
    const unreached: CallEvent = { type: 'stream_failed', isInternal: false };
    const { effects, state, last } = play(inboundCall(), [answered, ...new Array(5).fill(unreached)]);
    expect(effects.flat().filter(({ type }) => type === 'open_stream')).toHaveLength(5);
    expect(last).toEqual([{ type: 'hang_up', withApology: false }]);
    expect(state.intent).toBe('agent_hangup');
  });

  test('resets the attempts once a stream was open', () => {
    const { last } = play(inboundCall(), [answered, failed, failed, open, failed]);
    expect(last).toEqual([{ type: 'open_stream', afterMs: 0 }]);
  });

  test('is transferred when the peer reports success', () => {
    const transfer: CallEvent = { type: 'command', command: { kind: 'transfer', to: '+1' } };
    const { effects } = play(inboundCall(), [
      answered,
      open,
      transfer,
      transfer,
      { type: 'transfer_done' },
      ended('local_hangup', 200),
    ]);
    expect(effects.slice(2).map(names)).toEqual([['transfer'], [], ['hang_up'], ['finish']]);
    expect(resultIn(effects[5] ?? [])).toEqual(['completed', 'transferred']);
  });

  test('is transferred when the peer hangs up after the REFER without a report', () => {
    const transfer: CallEvent = { type: 'command', command: { kind: 'transfer', to: '+1' } };
    const hungUp = ended('remote_hangup', 200);
    const { last } = play(inboundCall(), [answered, open, transfer, { type: 'transfer_referring' }, hungUp]);
    expect(resultIn(last)).toEqual(['completed', 'transferred']);
  });

  test('is not transferred when the peer hangs up before the REFER', () => {
    const transfer: CallEvent = { type: 'command', command: { kind: 'transfer', to: '+1' } };
    const { last } = play(inboundCall(), [answered, open, transfer, ended('remote_hangup', 200)]);
    expect(resultIn(last)).toEqual(['completed', 'caller_hangup']);
  });

  test.each<[string, CallEvent[], string[], [string, string]]>([
    ['the caller hangs up while the target rings', [], ['finish'], ['completed', 'caller_hangup']],
    [
      'the caller hangs up while bridged',
      [{ type: 'transfer_bridged' }],
      ['finish'],
      ['completed', 'transferred'],
    ],
  ])('transferred by a second leg: %s', (_what, before, effects, result) => {
    const transfer: CallEvent = { type: 'command', command: { kind: 'transfer', to: '+1' } };
    const { last } = play(inboundCall(), [
      answered,
      open,
      transfer,
      { type: 'transfer_dialing' },
      ...before,
      ended('remote_hangup', 200),
    ]);
    expect(names(last)).toEqual(effects);
    expect(resultIn(last)).toEqual(result);
  });

  test('bridged with the transfer target closes every agent stream and opens none', () => {
    const transfer: CallEvent = { type: 'command', command: { kind: 'transfer', to: '+1' } };
    const { effects } = play(inboundCall(), [
      answered,
      open,
      transfer,
      { type: 'transfer_dialing' },
      { type: 'transfer_bridged' },
      open,
      { type: 'stream_closed', how: 'stopped' },
      { type: 'stream_closed', how: 'broken' },
      failed,
      transfer,
    ]);
    expect(effects.slice(4).map(names)).toEqual([['close_stream'], ['close_stream'], [], [], [], []]);
  });

  test('ends when the agent stopped its stream during a transfer that fails', () => {
    const transfer: CallEvent = { type: 'command', command: { kind: 'transfer', to: '+1' } };
    const { effects, last } = play(inboundCall(), [
      answered,
      open,
      transfer,
      { type: 'stream_closed', how: 'stopped' },
      { type: 'transfer_failed' },
      ended('local_hangup', 200),
    ]);
    expect(effects.slice(3, 5).map(names)).toEqual([[], ['hang_up']]);
    expect(resultIn(last)).toEqual(['completed', 'agent_hangup']);
  });

  test('continues after a failed transfer, and may be transferred again', () => {
    const transfer: CallEvent = { type: 'command', command: { kind: 'transfer', to: '+1' } };
    const { effects } = play(inboundCall(), [
      answered,
      open,
      transfer,
      { type: 'transfer_failed' },
      transfer,
    ]);
    expect(names(effects[4] ?? [])).toEqual(['transfer']);
  });

  test.each(['max_duration', 'media_timeout', 'agent_hangup', 'api_hangup'] as const)(
    'hung up for %s keeps that reason, whatever follows',
    (intent) => {
      const { effects, last } = play(inboundCall(), [
        answered,
        open,
        { type: 'hang_up', intent },
        { type: 'stream_closed', how: 'stopped' },
        api,
        ended('local_hangup', 200),
      ]);
      expect(effects.slice(2, 5).map(names)).toEqual([['hang_up'], [], []]);
      expect(resultIn(last)).toEqual(['completed', intent]);
    },
  );

  test('finishes exactly once, for any events in any order', () => {
    const event = fc.constantFrom<CallEvent>(
      ringing,
      answered,
      open,
      failed,
      api,
      { type: 'stream_closed', how: 'broken' },
      { type: 'stream_closed', how: 'stopped' },
      { type: 'command', command: { kind: 'hangup' } },
      { type: 'command', command: { kind: 'hangup', reason: 'error' } },
      { type: 'command', command: { kind: 'transfer', to: '+1' } },
      { type: 'command', command: { kind: 'send_dtmf', digits: '1' } },
      { type: 'transfer_done' },
      { type: 'transfer_failed' },
      { type: 'hang_up', intent: 'max_duration' },
      { type: 'hang_up', intent: 'node_lost' },
      ended('trunk_error', 503),
      ended('busy', 486),
      ended('remote_hangup', 200),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const { effects, state } = play(outboundCall(2), [...events, ended('busy', 486), ended('busy', 486)]);
        const all = names(effects.flat());
        expect(all.filter((name) => name === 'finish')).toHaveLength(1);
        expect(all.at(-1)).toBe('finish');
        expect(all.filter((name) => name === 'start').length).toBeLessThanOrEqual(1);
        expect(state.phase).toBe('ended');
      }),
    );
  });
});
