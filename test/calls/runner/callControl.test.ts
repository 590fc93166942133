import { expect, test } from 'vitest';
import { CallwayError, unavailable } from '../../../src/base/errors.ts';
import type { Call, CallStatus } from '../../../src/calls/call.ts';
import type { CallStore } from '../../../src/calls/callStore.ts';
import type { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import type { CallRequests } from '../../../src/calls/nodes/callRequests.ts';
import type { NodeBus } from '../../../src/calls/nodes/nodeBus.ts';
import { CallControl, type TransferInput } from '../../../src/calls/runner/callControl.ts';
import type { CallFinisher } from '../../../src/calls/runner/callFinisher.ts';
import type { CallSessions } from '../../../src/calls/setup/callSessions.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { makeCall } from '../support/makeCall.ts';

const TO = '+886223456780';
const FORBIDDEN = '+8862031234567';
const MEDIA_ID = '00000000-0000-4000-8000-000000000001';
const TRUNK_ID = '00000000-0000-4000-8000-000000000002';
const SAMPLES = { intervalMs: 5000 } as never;
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const LISTED = '+886223456799';

/** @param targets - The agent's `transferTargets`. */
function control(
  status: CallStatus,
  targets: readonly string[] | null = null,
  { transfer = null }: Pick<Partial<Call>, 'transfer'> = {},
) {
  const asked: unknown[] = [];
  const errors: string[] = [];
  const clock = createSimulatedClock();
  const call = makeCall({ status, transfer });
  /** What the store has by now, and what is away. */
  const state = { call: call as Call | undefined, isFound: true, isAway: false };
  const reach = async () => {
    if (state.isAway) throw unavailable('call');
  };
  const calls = new CallControl({
    calls: unused<CallStore>('calls', {
      find: async (_project, id) => (id === call.id ? state.call : undefined),
      requestHangup: async (_project, id) => (id === call.id && state.isFound ? state.call : undefined),
      mediaSamples: async () => SAMPLES,
    }),
    finisher: unused<CallFinisher>('finisher', {
      settleCanceled: async ({ id }) => void asked.push(['settle', id]),
    }),
    limiter: unused<CallLimiter>('limiter', {
      async requireAllowedDestination(_project, to) {
        if (to === FORBIDDEN) throw new CallwayError('unprocessable', 'destination_not_allowed', 'no');
      },
    }),
    callingRules: async (_project, number) => ({ isListed: number === LISTED, callingHours: null }),
    sessions: unused<CallSessions>('sessions', { transferTargets: async () => targets }),
    hasMedia: async (_project, id) => id === MEDIA_ID,
    hasTrunk: async (_project, id) => id === TRUNK_ID,
    bus: unused<NodeBus>('bus', {
      async publish(message) {
        asked.push(message);
        await reach();
      },
    }),
    requests: unused<CallRequests>('requests', {
      async ask(callId, name, argument) {
        asked.push([callId, name, argument]);
        await reach();
        return { id: 'participant' } as never;
      },
    }),
    clock,
    onError: (_error, what) => errors.push(what),
  });
  const add = (to: string, id = call.id, trunkId?: string) =>
    calls.addParticipant('project', id, { to, trunkId });
  const move = (input: TransferInput) => calls.transfer('project', call.id, input);
  return { add, asked, calls, call, clock, errors, move, state };
}

test('A participant is asked for at the node that runs the call, by the normalized number', async () => {
  const { asked, add } = control('in_progress', [TO]);
  expect(await add('0223456780')).toEqual({ id: 'participant' });
  expect(asked).toEqual([['call', 'add_participant', { to: TO }]]);
});

test('A participant is called over the trunk that is named, if the project has it', async () => {
  const { asked, add } = control('in_progress');
  await add(TO, 'call', TRUNK_ID);
  expect(asked).toEqual([['call', 'add_participant', { to: TO, trunkId: TRUNK_ID }]]);
  await expect(add(TO, 'call', MEDIA_ID)).rejects.toMatchObject({ code: 'unknown_trunk' });
});

test.each([
  ['no number', 'in_progress', null, 'nobody', 'invalid_transfer_target'],
  ['a forbidden destination', 'in_progress', null, FORBIDDEN, 'destination_not_allowed'],
  ['a number on a do-not-call list', 'in_progress', null, LISTED, 'do_not_call'],
  ['none of the agent’s transferTargets', 'in_progress', ['+886223456789'], TO, 'destination_not_allowed'],
  ['a call that rings', 'ringing', null, TO, 'call_not_in_progress'],
  ['a call that has ended', 'completed', null, TO, 'call_not_in_progress'],
] as const)('Nobody is added to or by %s', async (_what, status, targets, to, code) => {
  const { asked, add } = control(status, targets);
  await expect(add(to)).rejects.toMatchObject({ code });
  expect(asked).toEqual([]);
});

test('An unknown call has no participants', async () => {
  await expect(control('in_progress').add(TO, 'unknown')).rejects.toMatchObject({ code: 'call_not_found' });
});

test.each<[TransferInput, string, object | undefined]>([
  [{ to: '0223456780' }, TO, undefined],
  [{ targets: [TO] }, TO, undefined],
  [{ to: TO, trunkId: TRUNK_ID }, TO, { trunkId: TRUNK_ID }],
  [{ to: { to: TO, trunkId: TRUNK_ID } }, TO, { trunkId: TRUNK_ID }],
  [{ targets: [{ to: TO, trunkId: TRUNK_ID }, TO] }, TO, { targets: [{ to: TO, trunkId: TRUNK_ID }, TO] }],
  [
    { targets: [TO, 'sip:desk@pbx.example'], mode: 'warm' },
    TO,
    { mode: 'warm', targets: [TO, 'sip:desk@pbx.example'] },
  ],
  [{ to: TO, holdMusic: { mediaId: MEDIA_ID } }, TO, { holdMusic: { mediaId: MEDIA_ID } }],
  [{ to: TO, holdMusic: 'none' }, TO, { holdMusic: 'none' }],
])('A transfer %j is passed on to the node that runs the call', async (input, to, options) => {
  const { asked, call, move } = control('in_progress');
  expect(await move(input)).toBe(call);
  expect(asked).toEqual([['call', 'transfer', options ? { to, options } : { to }]]);
});

test.each<[TransferInput, CallStatus, readonly string[] | null, string]>([
  [{ to: 'nobody' }, 'in_progress', null, 'invalid_transfer_target'],
  [{ to: TO, announce: 'Hi' }, 'in_progress', null, 'invalid_transfer'],
  [{ to: TO, holdMusic: { mediaId: 'other' } }, 'in_progress', null, 'unknown_media'],
  [{ to: TO, trunkId: MEDIA_ID }, 'in_progress', null, 'unknown_trunk'],
  [{ targets: [TO, { to: TO, trunkId: MEDIA_ID }] }, 'in_progress', null, 'unknown_trunk'],
  [{ targets: [TO, FORBIDDEN] }, 'in_progress', null, 'destination_not_allowed'],
  [{ targets: [TO, '+886912345670'] }, 'in_progress', [TO], 'destination_not_allowed'],
  [{ to: TO }, 'ringing', null, 'call_not_in_progress'],
])('A transfer %j of a call that is %s is refused', async (input, status, targets, code) => {
  const { asked, move } = control(status, targets);
  await expect(move(input)).rejects.toMatchObject({ code });
  expect(asked).toEqual([]);
});

const TRANSFER = { mode: 'blind', to: TO, status: 'failed', reason: null, startedAt: '' } as const;

test.each([
  ['after one that failed', { outcome: 'busy', endedAt: '' }, true],
  ['after one that joined', { outcome: 'joined', endedAt: '' }, false],
  ['during another', { outcome: null, endedAt: null }, false],
] as const)('A transfer %s', async (_what, fields, isAllowed) => {
  const { asked, clock, move } = control('in_progress', null, { transfer: { ...TRANSFER, ...fields } });
  const outcome = move({ to: TO }).catch(({ code }) => code);
  for (let n = 0; n < 20; n += 1) {
    await settle();
    clock.advance(50);
  }
  if (isAllowed) expect(asked).toHaveLength(1);
  else expect([await outcome, asked]).toEqual(['transfer_in_progress', []]);
});

test('A transfer waits for the end of the last to be stored', async () => {
  const { asked, call, clock, move, state } = control('in_progress', null, {
    transfer: { ...TRANSFER, outcome: null, endedAt: null },
  });
  const moved = move({ to: TO });
  await settle();
  state.call = { ...call, transfer: null };
  clock.advance(50);
  await moved;
  expect(asked).toHaveLength(1);
});

test('A hang-up of a call in progress is passed on, one of a canceled call settles it', async () => {
  const running = control('in_progress');
  expect(await running.calls.hangUp('project', 'call')).toBe(running.call);
  expect(running.asked).toEqual([{ kind: 'hangup', callId: 'call' }]);

  const canceled = control('canceled');
  expect(await canceled.calls.hangUp('project', 'call')).toBe(canceled.call);
  expect(canceled.asked).toEqual([['settle', 'call']]);

  const ended = control('completed');
  ended.state.isFound = false;
  expect(await ended.calls.hangUp('project', 'call')).toBe(ended.call);
  expect(ended.asked).toEqual([]);
  await expect(ended.calls.hangUp('project', 'other')).rejects.toMatchObject({ code: 'call_not_found' });
});

test.each([
  [1_950, 'dialing'],
  [2_000, 'queued'],
])(
  'A hang-up of a claimed call waits for its dialing, two seconds at most (%i ms)',
  async (waitMs, status) => {
    const { call, calls, clock, errors, state } = control('queued');
    state.isAway = true;
    let outcome: string | undefined;
    void calls.hangUp('project', 'call').then((found) => {
      outcome = found.status;
    });
    for (let passedMs = 0; passedMs < waitMs; passedMs += 50) {
      await settle();
      expect(outcome).toBeUndefined();
      if (passedMs === 1_900 && status === 'dialing') state.call = { ...call, status };
      clock.advance(50);
    }
    await settle();
    expect([outcome, errors]).toEqual([status, ['hang-up request not published']]);
  },
);

test('A hang-up that waits resolves with the end of the call', async () => {
  const { call, calls, clock, state } = control('in_progress');
  let isOver = false;
  void calls.hangUpAndWait('project', 'call').then(() => {
    isOver = true;
  });
  await settle();
  clock.advance(50);
  await settle();
  expect(isOver).toBe(false);
  state.call = { ...call, status: 'completed' };
  clock.advance(50);
  await settle();
  expect(isOver).toBe(true);
});

test('Figures of a call in progress are asked of its node, and missing where it does not answer', async () => {
  const live = control('in_progress');
  expect(await live.calls.quality(live.call)).toEqual({ id: 'participant' });
  expect(await live.calls.mediaSamples(live.call)).toEqual({ id: 'participant' });
  expect(live.asked).toEqual([
    ['call', 'read_quality', undefined],
    ['call', 'read_media_samples', undefined],
  ]);
  live.state.isAway = true;
  expect([await live.calls.quality(live.call), await live.calls.mediaSamples(live.call)]).toEqual([
    null,
    undefined,
  ]);
  expect(live.errors).toEqual(['figures of a call not read', 'figures of a call not read']);

  const ended = control('completed');
  expect([await ended.calls.quality(ended.call), await ended.calls.mediaSamples(ended.call)]).toEqual([
    null,
    SAMPLES,
  ]);
  expect(ended.asked).toEqual([]);
});

test('A request to a call that ended meanwhile says so; one to a lost node, that it is unavailable', async () => {
  const { add, call, state } = control('in_progress');
  state.isAway = true;
  await expect(add(TO)).rejects.toMatchObject({ code: 'call_unavailable' });
  let reads = 0;
  Object.defineProperty(state, 'call', {
    get() {
      reads += 1;
      return reads > 2 ? { ...call, status: 'completed' } : call;
    },
  });
  await expect(add(TO)).rejects.toMatchObject({ code: 'call_not_in_progress' });
});
