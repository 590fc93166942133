import { expect, test } from 'vitest';
import { type LegEvent, type LegState, legTransition } from '../../../src/telephony/leg/legTransition.ts';

const reason = { q850Cause: 16, text: 'bye' };
const hangup: LegEvent = { kind: 'hangup', reason };
const inviting: LegState = { kind: 'inviting', hasRung: false, hasEarlyMedia: false };
const ringing: LegState = { kind: 'inviting', hasRung: true, hasEarlyMedia: false };
const end = { outcome: 'canceled', sip: null, q850Cause: 16 } as const;
const refused = (status: number, isFromPeer = true): LegEvent => ({
  kind: 'refused',
  refusal: { status, reason: 'x', q850Cause: undefined, isFromPeer },
});

/** Each row: a state, an event, the next state, and the effects (an end by its outcome). */
const rows: [LegState, LegEvent, string, string[]][] = [
  [{ kind: 'preparing' }, { kind: 'prepared' }, 'inviting', ['invite']],
  [{ kind: 'preparing' }, { kind: 'failed' }, 'ended', ['trunk_error']],
  [{ kind: 'preparing' }, hangup, 'ended', ['canceled']],
  [{ kind: 'preparing' }, { kind: 'ringTimeout' }, 'preparing', []],
  [inviting, { kind: 'ringing', hasEarlyMedia: false }, 'inviting', ['announceRinging']],
  [ringing, { kind: 'ringing', hasEarlyMedia: false }, 'inviting', []],
  [ringing, { kind: 'ringing', hasEarlyMedia: true }, 'inviting', ['announceRinging']],
  [inviting, { kind: 'accepted' }, 'joining', ['connect']],
  [inviting, refused(486), 'ended', ['busy']],
  [inviting, refused(408, false), 'ended', ['unreachable']],
  [ringing, refused(408, false), 'ended', ['no_answer']],
  [inviting, hangup, 'canceling', ['cancel']],
  [ringing, { kind: 'ringTimeout' }, 'canceling', ['cancel']],
  [inviting, { kind: 'responseTimeout' }, 'ended', ['cancel', 'unreachable']],
  [inviting, { kind: 'failed' }, 'ended', ['trunk_error']],
  [inviting, { kind: 'failed', isUnreachable: true }, 'ended', ['unreachable']],
  [inviting, { kind: 'lost' }, 'ended', ['lost']],
  [{ kind: 'canceling', end }, refused(487), 'ended', ['canceled']],
  [{ kind: 'canceling', end }, { kind: 'over' }, 'ended', ['canceled']],
  [{ kind: 'canceling', end }, { kind: 'lost' }, 'ended', ['canceled']],
  [{ kind: 'canceling', end }, { kind: 'ringing', hasEarlyMedia: true }, 'canceling', []],
  [{ kind: 'confirming' }, { kind: 'acknowledged' }, 'joining', ['connect']],
  [{ kind: 'confirming' }, hangup, 'confirming', []],
  [{ kind: 'confirming', hangup: reason }, { kind: 'acknowledged' }, 'leaving', ['bye']],
  [{ kind: 'confirming' }, { kind: 'peerLeft', q850Cause: undefined }, 'ended', ['remote_hangup']],
  [{ kind: 'confirming' }, { kind: 'lost' }, 'ended', ['lost']],
  [{ kind: 'joining' }, { kind: 'connected' }, 'talking', ['announceAnswered']],
  [{ kind: 'joining' }, { kind: 'failed' }, 'leaving', ['bye']],
  [{ kind: 'joining' }, hangup, 'leaving', ['bye']],
  [
    { kind: 'joining' },
    { kind: 'peerLeft', q850Cause: undefined },
    'ended',
    ['announceAnswered', 'remote_hangup'],
  ],
  [{ kind: 'talking' }, { kind: 'connected' }, 'talking', []],
  [{ kind: 'talking' }, hangup, 'leaving', ['bye']],
  [{ kind: 'talking' }, { kind: 'peerLeft', q850Cause: 31 }, 'ended', ['remote_hangup']],
  [{ kind: 'talking' }, { kind: 'lost' }, 'ended', ['lost']],
  [{ kind: 'talking' }, { kind: 'ringTimeout' }, 'talking', []],
  [{ kind: 'leaving', end }, { kind: 'over' }, 'ended', ['canceled']],
  [{ kind: 'leaving', end }, { kind: 'peerLeft', q850Cause: 16 }, 'ended', ['canceled']],
  [{ kind: 'leaving', end }, hangup, 'leaving', []],
];

test.each(rows)('%j on %j', (state, event, next, effects) => {
  const step = legTransition(state, event);
  expect(step.state.kind).toBe(next);
  expect(step.effects.map((effect) => (effect.kind === 'end' ? effect.end.outcome : effect.kind))).toEqual(
    effects,
  );
});

test('nothing follows the end', () => {
  for (const [, event] of rows)
    expect(legTransition({ kind: 'ended' }, event)).toEqual({ state: { kind: 'ended' }, effects: [] });
});

test('an end comes with the status that the peer gave to the cancelled INVITE', () => {
  const [effect] = legTransition({ kind: 'canceling', end }, refused(487)).effects;
  expect(effect).toEqual({ kind: 'end', end: { ...end, sip: { code: 487, reason: 'x' } } });
});
