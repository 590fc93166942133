import { expect, test } from 'vitest';

import type { WebhookDelivery } from '../../src/webhooks/deliveryStore.ts';
import {
  catchUp,
  claimSend,
  endTasks,
  failUnsent,
  releaseSend,
  SENDER_LEASE_MS,
  settleAttempt,
  TASKS_LEASE_MS,
} from '../../src/webhooks/outbox.ts';
import type { Outbox } from '../../src/webhooks/outboxStore.ts';
import { CLAIM_LEASE_MS } from '../../src/work/worker.ts';
import { ENDED_AT_MS, eventRow, outboxOf } from './support/memoryOutbox.ts';

const NOW = ENDED_AT_MS;
const HOUR_MS = 3_600_000;
const DELIVERY = { id: 'd', attempt: 1 } as WebhookDelivery;

const caughtUp = (fields: Partial<Outbox> = {}, nowMs = NOW) =>
  catchUp(outboxOf(fields), nowMs, () => 'new-id');
const statuses = ({ events }: Outbox) => events.map(({ status }) => status);
const sending = (leaseUntilMs: number | null) =>
  eventRow('session.ended', { status: 'sending', attempt: 1, deliveryId: 'd', leaseUntilMs });

test('The first event of an ended session is due, under an id that it keeps', () => {
  const { outbox, nextAtMs, result } = caughtUp();
  expect(result).toEqual({
    tasks: false,
    send: { event: 'session.ended', deliveryId: 'new-id', attempt: 0 },
  });
  expect(statuses(outbox)).toEqual(['ready', 'ready']);
  expect(outbox.events.map(({ deliveryId }) => deliveryId)).toEqual(['new-id', null]);
  // Another node looks again when this one has failed.
  expect(nextAtMs).toBe(NOW + CLAIM_LEASE_MS);
  expect(catchUp(outbox, NOW, () => 'other-id').result.send?.deliveryId).toBe('new-id');
});

test('session.finalized waits for the evaluation, or for the timeout', () => {
  const events = [
    eventRow('session.ended', { status: 'settled', outcome: 'delivered' }),
    eventRow('session.finalized'),
  ];
  const waits = { evaluating: true, events };
  expect(statuses(caughtUp(waits).outbox)).toEqual(['settled', 'waiting']);
  expect(caughtUp({ ...waits, facts: ['session.finalized'] }).result.send?.event).toBe('session.finalized');
  expect(caughtUp({ ...waits, finalizeByMs: NOW + 1 }).result.send).toBeNull();
  expect(caughtUp({ ...waits, finalizeByMs: NOW + 1 }).nextAtMs).toBe(NOW + 1);
  expect(caughtUp({ ...waits, finalizeByMs: NOW }).result.send?.event).toBe('session.finalized');
});

test('While a fact is missing the outbox is looked at again after an hour', () => {
  const events = [
    eventRow('session.ended', { status: 'settled', outcome: 'delivered' }),
    eventRow('call.ended'),
  ];
  expect(caughtUp({ events })).toMatchObject({ nextAtMs: NOW + HOUR_MS, result: { send: null } });
});

test.each([
  ['lost when its lease is over', NOW, 'ready'],
  ['not lost before', NOW + 1, 'sending'],
  ['lost without a lease', null, 'ready'],
])('A sender is %s', (_what, leaseUntilMs, status) => {
  const { outbox, nextAtMs } = caughtUp({ events: [sending(leaseUntilMs), eventRow('session.finalized')] });
  expect(statuses(outbox)[0]).toBe(status);
  expect(nextAtMs).toBe(status === 'sending' ? NOW + 1 : NOW + CLAIM_LEASE_MS);
});

test('A node claims the due event with a lease, and no other node claims it then', () => {
  const due = caughtUp().outbox;
  const first = claimSend(due, 'session.ended', NOW);
  expect([first.result, first.nextAtMs]).toEqual([1, NOW + SENDER_LEASE_MS]);
  expect(first.outbox.events[0]).toMatchObject({ status: 'sending', leaseUntilMs: NOW + SENDER_LEASE_MS });
  expect(claimSend(first.outbox, 'session.ended', NOW)).toMatchObject({
    outbox: first.outbox,
    result: undefined,
  });
  expect(claimSend(due, 'session.finalized', NOW).result).toBeUndefined();
});

test.each([
  [true, 'delivered'],
  [false, 'failed'],
] as const)('A result (received: %s) settles its attempt alone', (ok, outcome) => {
  const { outbox } = claimSend(caughtUp().outbox, 'session.ended', NOW);
  const settled = settleAttempt(outbox, { event: 'session.ended', attempt: 1, ok }, NOW, DELIVERY);
  expect(settled.delivery).toBe(DELIVERY);
  expect(settled.outbox.events[0]).toMatchObject({ status: 'settled', outcome });
  const late = settleAttempt(outbox, { event: 'session.ended', attempt: 2, ok }, NOW, DELIVERY);
  expect(late.outbox.events[0]).toMatchObject({ status: 'sending', outcome: null });
});

test('A failure before the claim settles the event, unless another node has it or had it since', () => {
  const due = caughtUp().outbox;
  const unsent = { event: 'session.ended', deliveryId: 'd', attempt: 0 } as const;
  const failed = failUnsent(due, unsent, NOW, DELIVERY);
  expect([failed.delivery, failed.outbox.events[0]?.outcome]).toEqual([DELIVERY, 'failed']);
  const claimed = claimSend(due, 'session.ended', NOW).outbox;
  const released = releaseSend(claimed, { event: 'session.ended', attempt: 1 }, NOW).outbox;
  expect(statuses(released)).toEqual(['ready', 'ready']);
  for (const other of [claimed, released])
    expect(failUnsent(other, unsent, NOW, DELIVERY)).toMatchObject({ outbox: other, result: undefined });
  expect(failUnsent(released, unsent, NOW, DELIVERY).delivery).toBeUndefined();
});

test('Post-session tasks are started once they are due, three times at most, then given up', () => {
  const tasks = { evaluating: true, tasksAtMs: NOW, events: [eventRow('session.finalized')] };
  expect(caughtUp({ ...tasks, tasksAtMs: NOW + 1 })).toMatchObject({
    nextAtMs: NOW + 1,
    result: { tasks: false },
  });
  let outbox = outboxOf(tasks);
  let nowMs = NOW;
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const step = catchUp(outbox, nowMs, () => 'd');
    expect(step.result).toEqual({ tasks: true, send: null });
    expect(step.outbox.taskAttempts).toBe(attempt);
    expect(step.nextAtMs).toBe(nowMs + TASKS_LEASE_MS);
    outbox = step.outbox;
    nowMs += TASKS_LEASE_MS;
  }
  const last = catchUp(outbox, nowMs, () => 'd');
  expect(last.result).toMatchObject({ tasks: false, send: { event: 'session.finalized' } });
  expect(last.outbox.tasksAtMs).toBeNull();
});

test('An outbox is done when its events are settled and its tasks have ended', () => {
  const events = [eventRow('session.finalized', { status: 'settled', outcome: 'delivered' })];
  expect(caughtUp({ events, tasksAtMs: NOW + 5 }).nextAtMs).toBe(NOW + 5);
  expect(endTasks(outboxOf({ events, tasksAtMs: NOW }), NOW)).toMatchObject({
    outbox: { tasksAtMs: null },
    nextAtMs: null,
  });
});
