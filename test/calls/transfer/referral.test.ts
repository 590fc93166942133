import { expect, test } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import { referToReplace, referToTargets } from '../../../src/calls/transfer/referral.ts';
import type { TransferDeps } from '../../../src/calls/transfer/transferDeps.ts';
import type { TransferPlan } from '../../../src/calls/transfer/transferPlan.ts';
import type { AgentMessage } from '../../../src/media/agentStream/streamClient.ts';

const answered = (sipStatus: unknown) =>
  new CallwayError('unavailable', 'transfer_failed', `answered ${sipStatus}`, { extra: { sipStatus } });
const UNSUPPORTED = new CallwayError('conflict', 'transfer_unsupported', 'no REFER');

/** Refers to one target for each of these ends, and returns what was done. */
async function referred(
  ends: readonly (Error | undefined)[],
  { plan = {}, isAway = false, mayDial = false } = {},
) {
  const done: unknown[] = [];
  const left = [...ends];
  const deps = {
    parties: {
      requireAllowed: async (to: string, isPeersWish: boolean) =>
        void done.push([isPeersWish ? 'allowed to the peer' : 'allowed', to]),
    },
    mayDial,
    leg: {
      async refer(...request: unknown[]) {
        done.push(['refer', ...request]);
        const error = left.shift();
        if (error) throw error;
      },
    },
    media: {
      async tellAgent({ kind: _, ...status }: AgentMessage) {
        if (isAway) throw new Error('away');
        done.push(['told', status]);
      },
    },
    dispatch: ({ type }: { readonly type: string }) => void done.push(type),
    report: (report: object) => void done.push(['report', report]),
    onError: (_error: unknown, what: string) => void done.push(what),
  } as unknown as TransferDeps;
  const targets = ends.map((_, index) => ({ to: `t${index}` }));
  const result = await referToTargets(deps, {
    targets,
    mode: 'blind',
    timeoutMs: 9_000,
    isTimeoutGiven: true,
    ...plan,
  } as unknown as TransferPlan);
  await Promise.resolve();
  return { done, result };
}

const report = (to: string, more: object) => ['report', { to, mode: 'blind', by: 'refer', ...more }];
const tried = (to: string, allowed = 'allowed to the peer') => [
  [allowed, to],
  'transfer_referring',
  report(to, { status: 'started' }),
  ['refer', to, 9_000],
];

test('The caller’s side is asked to call one target after the other, until one is joined', async () => {
  const { done, result } = await referred([answered(486), answered(486), undefined]);
  const busy = { status: 'failed', outcome: 'busy', reason: 'answered 486', targetsLeft: 2 };
  expect(result).toBe('over');
  expect(done).toEqual([
    ...tried('t0'),
    report('t0', busy),
    ...tried('t1'),
    report('t1', { ...busy, targetsLeft: 1 }),
    ...tried('t2'),
    report('t2', { status: 'joined' }),
    'transfer_done',
  ]);
});

test.each([
  [answered(408), 'failed', 'no_answer'],
  [answered(480), 'failed', 'no_answer'],
  [answered(600), 'failed', 'busy'],
  [answered(603), 'refused', 'refused'],
  [answered(500), 'failed', 'failed'],
  [answered(undefined), 'failed', 'failed'],
  [new Error('away'), 'failed', 'failed'],
  [UNSUPPORTED, 'failed', 'failed'],
])(
  'The agent has a caller back whose side could not call the last target: %s',
  async (error, status, outcome) => {
    const { done } = await referred([error]);
    const told = { outcome, reason: error.message };
    expect(done.slice(4)).toEqual([
      report('t0', { status, ...told, targetsLeft: 0 }),
      ['told', { status: 'failed', to: 't0', ...told }],
      'transfer_failed',
    ]);
  },
);

test('A side that takes no REFER calls nobody where the targets may be dialed', async () => {
  const { done, result } = await referred([UNSUPPORTED], { mayDial: true });
  expect([result, done]).toEqual(['unsupported', tried('t0', 'allowed')]);
});

test('A call has as long as the peer wants where no time was given, and an agent that cannot be told is reported', async () => {
  const { done } = await referred([answered(486)], { plan: { isTimeoutGiven: false }, isAway: true });
  expect(done).toContainEqual(['refer', 't0', undefined]);
  expect(done.at(-1)).toBe('transfer: agent not told');
});

test.each([
  ['has both calls of a trunk whose transfers are by REFER', {}, {}, true],
  ['has no call of another trunk', {}, { trunkId: 'other' }, false],
  ['has no call without a dialog', {}, { replacingUri: undefined }, false],
  ['takes no REFER', { transferMethod: 'second_leg' }, {}, false],
])(
  'A caller’s side puts a call of its own in the place of ours where it %s',
  async (_what, caller, target, isAsked) => {
    const asked: unknown[] = [];
    const leg = {
      transferMethod: 'refer',
      trunkId: 't',
      refer: async (...to: unknown[]) => void asked.push(to),
      ...caller,
    };
    const other = { trunkId: 't', replacingUri: 'sip:x?Replaces=y', ...target };
    expect(await referToReplace(leg as never, other as never)).toBe(isAsked);
    expect(asked).toEqual(isAsked ? [['sip:x?Replaces=y', 15_000]] : []);
  },
);
