import { expect, test } from 'vitest';
import { callingHours } from '../../../src/agents/accounts/callingHours.ts';
import type { CallingRules } from '../../../src/calls/numbers/doNotCall.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import { CALL, settle, t, trunk, useRunner } from './support/runnerRig.ts';

useRunner();

const QUEUED = {
  ...CALL,
  status: 'queued' as const,
  settings: { ...CALL.settings, dynamicVariables: { name: 'Ada' } },
};
/** The simulated clock begins in 1970, on a Thursday. */
const NEVER_NOW = callingHours.parse({
  windows: [{ days: ['mon'], from: '08:00', to: '21:00' }],
  appliesTo: ['api'],
});
const startedWith = (state: Partial<Session['state']>) => ({ state }) as Session;

test('A call that the agent rejects ends without an INVITE', async () => {
  t.start = async () => startedWith({ variables: {}, rejectedWith: 603 });
  t.runner.dial(QUEUED, [trunk('a'), trunk('b')]);
  await settle();
  expect(t.dialed).toEqual([]);
  expect(t.finished).toMatchObject([{ status: 'failed', endReason: 'rejected', sip: null }]);
});

test('A call is dialed with its session’s variables, which are asked for once', async () => {
  const asked: unknown[] = [];
  t.start = async ({ call }) => {
    asked.push(call);
    return startedWith({ variables: { name: 'Ada', tier: 'gold' } });
  };
  t.runner.dial({ ...QUEUED, trunkId: 'a' }, [trunk('a'), trunk('b')]);
  await settle();
  const unreachable = { outcome: 'unreachable', sip: null, q850Cause: null } as const;
  t.legs[0]?.legEvents.emit('ended', unreachable);
  await settle();
  expect(t.dialed.map(({ variables }) => variables)).toEqual([
    { name: 'Ada', tier: 'gold' },
    { name: 'Ada', tier: 'gold' },
  ]);
  expect(asked).toEqual([expect.objectContaining({ direction: 'outbound', trunkId: 'a' })]);
});

test('A call whose session cannot be started is dialed with what it was ordered with', async () => {
  t.start = () => Promise.reject(new Error('the database is away'));
  t.runner.dial(QUEUED, [trunk('a')]);
  await settle();
  expect(t.dialed.map(({ variables }) => variables)).toEqual([{ name: 'Ada' }]);
});

test('A call waits with its INVITE while the project’s limits cannot be read', async () => {
  t.isAway = true;
  t.runner.dial(QUEUED, [trunk('a')]);
  await settle();
  expect([t.dialed, t.finished]).toEqual([[], []]);
  t.isAway = false;
  t.clock.advance(1000);
  await settle();
  expect(t.dialed).toHaveLength(1);
});

test('A call that is hung up while the agent is asked is not dialed', async () => {
  t.start = (_session, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  t.runner.dial(QUEUED, [trunk('a')]);
  await settle();
  t.runner.hangUp('call', 'api_hangup');
  await settle();
  expect(t.dialed).toEqual([]);
  expect(t.finished).toMatchObject([{ status: 'canceled', endReason: 'api_hangup' }]);
});

test.each<[string, CallingRules]>([
  ['do_not_call', { isListed: true, callingHours: null }],
  ['outside_calling_hours', { isListed: false, callingHours: NEVER_NOW }],
])(
  'A call that may no longer be placed at the moment of its INVITE ends as canceled with %s',
  async (endReason, rules) => {
    t.start = async () => {
      t.rules = rules;
      return startedWith({ variables: {} });
    };
    t.runner.dial(QUEUED, [trunk('a'), trunk('b')]);
    await settle();
    expect(t.dialed).toEqual([]);
    expect(t.finished).toMatchObject([{ status: 'canceled', endReason, sip: null }]);
  },
);

test('The rules are asked again before the next trunk', async () => {
  t.runner.dial({ ...QUEUED, trunkId: 'a' }, [trunk('a'), trunk('b')]);
  await settle();
  t.rules = { isListed: true, callingHours: null };
  t.legs[0]?.legEvents.emit('ended', { outcome: 'unreachable', sip: null, q850Cause: null });
  await settle();
  expect(t.dialed).toHaveLength(1);
  expect(t.finished).toMatchObject([{ status: 'canceled', endReason: 'do_not_call' }]);
});

test.each<[string, CallingRules, boolean[]]>([
  ['open', { isListed: false, callingHours: null }, [true, true]],
  [
    'closed there',
    { isListed: false, callingHours: { ...NEVER_NOW, appliesTo: ['campaign'] } },
    [true, false],
  ],
  ['listed', { isListed: true, callingHours: null }, [false, false]],
])(
  'A campaign’s call is redirected by the lists and by the hours of another number: %s',
  async (_what, rules, expected) => {
    t.runner.dial({ ...QUEUED, campaignId: 'c' }, [trunk('a')]);
    await settle();
    t.rules = rules;
    const targets = [`sip:${QUEUED.toNumber}@other`, 'sip:+13105550123@other'];
    const allowed = await Promise.all(targets.map((to) => t.dialed[0]?.mayRedirectTo(to)));
    expect(allowed).toEqual(expected);
  },
);

test.each(['campaign_stopped', 'outside_calling_hours'] as const)(
  'A call that its campaign may place no longer ends as canceled with %s',
  async (endReason) => {
    t.campaignRefusal = endReason;
    t.runner.dial(QUEUED, [trunk('a'), trunk('b')]);
    await settle();
    expect(t.dialed).toEqual([]);
    expect(t.finished).toMatchObject([{ status: 'canceled', endReason, sip: null }]);
  },
);
