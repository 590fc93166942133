import { describe, expect, test } from 'vitest';

import { notListed, planTransfer } from '../../../src/calls/transfer/transferPlan.ts';
import {
  type CallTransfer,
  type TransferReport,
  transferAfter,
  transferEvent,
  transferLiveEvent,
} from '../../../src/calls/transfer/transferReport.ts';

const TO = '+886223456789';
const A = '00000000-0000-4000-8000-00000000000a';
const B = '00000000-0000-4000-8000-00000000000b';

test('A transfer without options calls its one target, which takes the call by its answer', () => {
  expect(planTransfer(TO, undefined, 'second_leg')).toEqual({
    targets: [{ to: TO }],
    mode: 'blind',
    announce: undefined,
    acceptBy: 'answer',
    acceptDigit: '1',
    timeoutMs: 30_000,
    isTimeoutGiven: false,
    strategy: 'sequential',
    holdMusic: undefined,
    afterJoin: 'leave',
  });
});

test.each([
  [{}, 'refer', { mode: 'refer' }],
  [{ mode: 'blind' }, 'refer', { mode: 'blind' }],
  [{ timeoutSeconds: 30 }, 'second_leg', { timeoutMs: 30_000, isTimeoutGiven: true }],
  [{ targets: ['0912345678', TO] }, 'second_leg', { targets: [{ to: '0912345678' }, { to: TO }] }],
  [{ trunkId: A }, 'refer', { targets: [{ to: TO, trunkId: A }], mode: 'blind' }],
  [{ trunkId: A, mode: 'refer' }, 'auto', { mode: 'refer' }],
  [
    { trunkId: A, targets: [TO, { to: TO, trunkId: B }] },
    'auto',
    {
      targets: [
        { to: TO, trunkId: A },
        { to: TO, trunkId: B },
      ],
    },
  ],
  [
    { targets: ['SIP:desk:pw@PBX.example;maddr=10.0.0.1?Replaces=x'] },
    'second_leg',
    { targets: [{ to: 'sip:desk@pbx.example' }] },
  ],
  [
    { mode: 'warm', acceptBy: 'digit', acceptDigit: '#', announce: 'Hi {{ callerNumber }}' },
    'second_leg',
    { mode: 'warm', acceptBy: 'digit', acceptDigit: '#', announce: 'Hi {{ callerNumber }}' },
  ],
] as const)('Of a transfer with %j on a trunk with %s', (options, method, expected) => {
  expect(planTransfer(TO, options, method)).toMatchObject(expected);
});

test.each([
  [{ timeoutSeconds: 0 }, /^timeoutSeconds: /],
  [{ mode: 'blind', announce: 'Hi' }, /announce/],
  [{ mode: 'warm', announce: 'Hi {{ callerNumber' }, /^announce: /],
])('A transfer with %j is refused', (options, message) => {
  expect(() => planTransfer(TO, options, 'second_leg')).toThrow(
    expect.objectContaining({ code: 'invalid_transfer', message: expect.stringMatching(message) }),
  );
});

test('A target that the agent does not list is named', () => {
  expect(notListed(TO)).toMatchObject({
    code: 'destination_not_allowed',
    message: expect.stringContaining(TO),
  });
});

describe('A call’s transfer', () => {
  const report = (fields: Partial<TransferReport> = {}): TransferReport => ({
    status: 'started',
    to: TO,
    mode: 'blind',
    by: 'second_leg',
    ...fields,
  });
  const running: CallTransfer = {
    mode: 'blind',
    to: TO,
    status: 'started',
    outcome: null,
    reason: null,
    startedAt: 'T1',
    endedAt: null,
  };

  test.each<[string, TransferReport, CallTransfer | null, Partial<CallTransfer> | undefined]>([
    ['starts', report(), null, running],
    [
      'goes on with another target',
      report({ to: '1002' }),
      running,
      { to: '1002', startedAt: 'T1', endedAt: null },
    ],
    [
      'starts anew after an earlier one',
      report(),
      { ...running, endedAt: 'T0' },
      { startedAt: 'T2', endedAt: null },
    ],
    [
      'is joined',
      report({ status: 'joined' }),
      running,
      { outcome: 'joined', reason: null, startedAt: 'T1', endedAt: 'T2' },
    ],
    [
      'fails with its last target',
      report({ status: 'failed', outcome: 'busy', reason: '486 Busy Here', targetsLeft: 0 }),
      running,
      { status: 'failed', outcome: 'busy', reason: '486 Busy Here', endedAt: 'T2' },
    ],
    [
      'runs while targets are left',
      report({ status: 'failed', outcome: 'busy', reason: '486 Busy Here', targetsLeft: 1 }),
      running,
      { status: 'failed', outcome: null, reason: null, endedAt: null },
    ],
    ['is not changed by a briefing', report({ status: 'briefing' }), running, undefined],
    [
      'is not changed by a canceled target',
      report({ status: 'canceled', outcome: 'failed' }),
      running,
      undefined,
    ],
  ])('%s', (_what, given, before, expected) => {
    const after = transferAfter(before, given, 'T2');
    if (expected === undefined) expect(after).toBeUndefined();
    else expect(after).toMatchObject(before === null ? { ...expected, startedAt: 'T2' } : expected);
  });

  test('is told in the history, with who is heard from then on', () => {
    expect(transferEvent(report({ reason: undefined as never }), 5)).toEqual(report());
    const recording = { left: ['caller'], right: ['target'] };
    expect(transferEvent(report({ recording }), 1500)).toEqual({
      ...report(),
      recording: { ...recording, atMs: 1500 },
    });
    expect(transferEvent(report({ recording }), undefined)).toEqual({ ...report(), recording });
  });

  test.each<[Partial<TransferReport>, unknown]>([
    [{}, { type: 'transfer.started', data: { to: TO, mode: 'blind' } }],
    [{ status: 'joined' }, { type: 'transfer.joined', data: { to: TO, mode: 'blind' } }],
    [{ status: 'accepted' }, { type: 'transfer.accepted', data: { to: TO, by: 'answer' } }],
    [
      { status: 'accepted', acceptedBy: 'digit' },
      { type: 'transfer.accepted', data: { to: TO, by: 'digit' } },
    ],
    [{ status: 'refused' }, { type: 'transfer.refused', data: { to: TO, reason: 'unknown' } }],
    [
      { status: 'failed', outcome: 'busy', reason: 'r' },
      { type: 'transfer.failed', data: { to: TO, mode: 'blind', outcome: 'busy', reason: 'r' } },
    ],
    [{ status: 'briefing' }, undefined],
    [{ status: 'handed_over' }, undefined],
  ])('is told to those who watch the call: %j', (fields, event) => {
    expect(transferLiveEvent(report(fields))).toEqual(event);
  });
});
