import { expect, test } from 'vitest';
import { type LegEvent, type LegState, legTransition } from '../../../src/telephony/leg/legTransition.ts';

const reason = { q850Cause: 16, text: 'bye' };
const hangup: LegEvent = { kind: 'hangup', reason };
const inviting: LegState = { kind: 'inviting', hasRung: false, hasEarlyMedia: false };
const ringing: LegState = { kind: 'inviting', hasRung: true, hasEarlyMedia: false };
const end = { outcome: 'canceled', sip: null, q850Cause: 16 } as const;
const rejected = (status: number, isFromPeer = true): LegEvent => ({
  kind: 'rejected',
  response: { status, reason: 'x', q850Cause: undefined, isFromPeer },
});

/** Each row: a state, an event, the next state, and the effects (an end by its outcome). */
const rows: [LegState, LegEvent, string, string[]][] = [
  [{ kind: 'preparing' }, { kind: 'prepared' }, 'inviting', ['sendInvite']],
  [{ kind: 'preparing' }, { kind: 'failed' }, 'terminated', ['trunk_error']],
  [{ kind: 'preparing' }, hangup, 'terminated', ['canceled']],
  [{ kind: 'preparing' }, { kind: 'ringTimeout' }, 'preparing', []],
  [inviting, { kind: 'ringing', hasEarlyMedia: false }, 'inviting', ['emitRinging']],
  [ringing, { kind: 'ringing', hasEarlyMedia: false }, 'inviting', []],
  [ringing, { kind: 'ringing', hasEarlyMedia: true }, 'inviting', ['emitRinging']],
  [inviting, { kind: 'accepted' }, 'connecting', ['connectAudio']],
  [inviting, rejected(486), 'terminated', ['busy']],
  [inviting, rejected(408, false), 'terminated', ['unreachable']],
  [ringing, rejected(408, false), 'terminated', ['no_answer']],
  [inviting, hangup, 'canceling', ['sendCancel']],
  [ringing, { kind: 'ringTimeout' }, 'canceling', ['sendCancel']],
  [inviting, { kind: 'responseTimeout' }, 'terminated', ['sendCancel', 'unreachable']],
  [inviting, { kind: 'failed' }, 'terminated', ['trunk_error']],
  [inviting, { kind: 'failed', isUnreachable: true }, 'terminated', ['unreachable']],
  [inviting, { kind: 'dialogLost' }, 'terminated', ['lost']],
  [{ kind: 'canceling', end }, rejected(487), 'terminated', ['canceled']],
  [{ kind: 'canceling', end }, { kind: 'completed' }, 'terminated', ['canceled']],
  [{ kind: 'canceling', end }, { kind: 'dialogLost' }, 'terminated', ['canceled']],
  [{ kind: 'canceling', end }, { kind: 'ringing', hasEarlyMedia: true }, 'canceling', []],
  [{ kind: 'awaitingAck' }, { kind: 'acknowledged' }, 'connecting', ['connectAudio']],
  [{ kind: 'awaitingAck' }, hangup, 'awaitingAck', ['limitAckWait']],
  [{ kind: 'awaitingAck', hangup: reason }, hangup, 'awaitingAck', []],
  [{ kind: 'awaitingAck', hangup: reason }, { kind: 'failed' }, 'terminated', ['lost']],
  [{ kind: 'terminating', end }, { kind: 'failed' }, 'terminating', []],
  [{ kind: 'awaitingAck', hangup: reason }, { kind: 'acknowledged' }, 'terminating', ['sendBye']],
  [{ kind: 'awaitingAck' }, { kind: 'byeReceived', q850Cause: undefined }, 'terminated', ['remote_hangup']],
  [{ kind: 'awaitingAck' }, { kind: 'dialogLost' }, 'terminated', ['lost']],
  [{ kind: 'connecting' }, { kind: 'connected' }, 'established', ['emitAnswered']],
  [{ kind: 'connecting' }, { kind: 'failed' }, 'terminating', ['sendBye']],
  [{ kind: 'connecting' }, hangup, 'terminating', ['sendBye']],
  [
    { kind: 'connecting' },
    { kind: 'byeReceived', q850Cause: undefined },
    'terminated',
    ['emitAnswered', 'remote_hangup'],
  ],
  [{ kind: 'established' }, { kind: 'connected' }, 'established', []],
  [{ kind: 'established' }, hangup, 'terminating', ['sendBye']],
  [{ kind: 'established' }, { kind: 'byeReceived', q850Cause: 31 }, 'terminated', ['remote_hangup']],
  [{ kind: 'established' }, { kind: 'dialogLost' }, 'terminated', ['lost']],
  [{ kind: 'established' }, { kind: 'ringTimeout' }, 'established', []],
  [{ kind: 'terminating', end }, { kind: 'completed' }, 'terminated', ['canceled']],
  [{ kind: 'terminating', end }, { kind: 'byeReceived', q850Cause: 16 }, 'terminated', ['canceled']],
  [{ kind: 'terminating', end }, hangup, 'terminating', []],
];

test.each(rows)('Leg in %j on %j', (state, event, next, effects) => {
  const step = legTransition(state, event);
  expect(step.state.kind).toBe(next);
  expect(step.effects.map((effect) => (effect.kind === 'end' ? effect.end.outcome : effect.kind))).toEqual(
    effects,
  );
});

test('A terminated leg ignores every event', () => {
  for (const [, event] of rows)
    expect(legTransition({ kind: 'terminated' }, event)).toEqual({
      state: { kind: 'terminated' },
      effects: [],
    });
});

test('A canceled leg ends with the status of the final response to its INVITE', () => {
  const [effect] = legTransition({ kind: 'canceling', end }, rejected(487)).effects;
  expect(effect).toEqual({ kind: 'end', end: { ...end, sip: { code: 487, reason: 'x' } } });
});
