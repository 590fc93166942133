import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { MakeId } from '../base/values/ids.ts';
import { CLAIM_LEASE_MS } from '../work/worker.ts';
import { DELIVERY_TIMEOUT_MS } from './delivery.ts';
import { awaitsTimeout, dueRow, type GateEvent, isGateDone, transitionGate } from './deliveryGate.ts';
import type { WebhookDelivery } from './deliveryStore.ts';
import type { Outbox, OutboxEvent, OutboxStep } from './outboxStore.ts';

/** A sender without a result for this long is lost: longer than any delivery, with time to store its result. */
export const SENDER_LEASE_MS = 3 * DELIVERY_TIMEOUT_MS;
/** Post-session tasks that are not done by then were lost with their node, and are restarted. */
export const TASKS_LEASE_MS = 110_000;
const MAX_TASK_ATTEMPTS = 3;
/** The interval while only a fact is missing; recording the fact makes the outbox due earlier. */
const LOOK_AGAIN_MS = 3_600_000;

export interface DueEvent {
  readonly event: WebhookEventName;
  readonly deliveryId: string;
  /** The number of earlier attempts. */
  readonly attempt: number;
}

/** The work that a node has to do for a session. */
export interface Due {
  readonly send: DueEvent | null;
  /** Whether to run the post-session tasks. */
  readonly tasks: boolean;
}

/** Brings an outbox up to date with the known facts, lost senders and the time; the first step of every node. */
export function catchUp(outbox: Outbox, nowMs: number, makeId: MakeId): OutboxStep<Due> {
  const facts = new Set<WebhookEventName>(outbox.facts).add('session.ended');
  if (!outbox.evaluating) facts.add('session.finalized');
  const current = apply(outbox, [
    ...[...facts].map((name) => ({ type: 'fact_ready', name }) as const),
    ...outbox.events
      .filter((row) => isLost(row, nowMs))
      .map(({ event, attempt }) => ({ type: 'sender_lost', name: event, attempt }) as const),
    ...(nowMs >= outbox.finalizeByMs ? [{ type: 'finalize_timeout' } as const] : []),
  ]);
  const { tasks, outbox: started } = startTasks(current, nowMs);
  const due = dueRow(started.events);
  if (!due) return { ...stepTo(started, nowMs), result: { tasks, send: null } };
  const { event, attempt } = due;
  const deliveryId = due.deliveryId ?? makeId();
  return {
    ...stepTo(withFields(started, event, { deliveryId }), nowMs),
    result: { tasks, send: { event, deliveryId, attempt } },
  };
}

/** Claims the right to send an event. @returns The attempt's number; undefined when another node has it. */
export function claimSend(
  outbox: Outbox,
  event: WebhookEventName,
  nowMs: number,
): OutboxStep<number | undefined> {
  const claimed = apply(outbox, [{ type: 'send_claimed', name: event }]);
  if (claimed === outbox) return { ...stepTo(outbox, nowMs), result: undefined };
  const leased = withFields(claimed, event, { leaseUntilMs: nowMs + SENDER_LEASE_MS });
  return { ...stepTo(leased, nowMs), result: rowOf(leased, event)?.attempt };
}

/** Settles an attempt with its result. */
export function settleAttempt(
  outbox: Outbox,
  settled: { readonly event: WebhookEventName; readonly attempt: number; readonly ok: boolean },
  nowMs: number,
  delivery: WebhookDelivery,
): OutboxStep<void> {
  const { event, attempt, ok } = settled;
  const outcome = ok ? 'delivered' : 'failed';
  const next = apply(outbox, [{ type: 'delivery_settled', name: event, attempt, outcome }]);
  return { ...stepTo(next, nowMs), delivery, result: undefined };
}

/** Settles an event that could not be sent and was not claimed; changes nothing when another node has it. */
export function failUnsent(
  outbox: Outbox,
  { event, attempt }: DueEvent,
  nowMs: number,
  delivery: WebhookDelivery,
): OutboxStep<void> {
  const row = rowOf(outbox, event);
  if (row?.status === 'ready' && row.attempt === attempt) {
    return settleAttempt(outbox, { event, attempt, ok: false }, nowMs, delivery);
  }
  return { ...stepTo(outbox, nowMs), result: undefined };
}

/** Releases a claim, so that the event may be sent again. */
export function releaseSend(
  outbox: Outbox,
  { event, attempt }: { readonly event: WebhookEventName; readonly attempt: number },
  nowMs: number,
): OutboxStep<void> {
  const next = apply(outbox, [{ type: 'claim_released', name: event, attempt }]);
  return { ...stepTo(next, nowMs), result: undefined };
}

/** The post-session tasks are done. */
export function endTasks(outbox: Outbox, nowMs: number): OutboxStep<void> {
  return { ...stepTo({ ...outbox, tasksAtMs: null }, nowMs), result: undefined };
}

function startTasks(outbox: Outbox, nowMs: number): { outbox: Outbox; tasks: boolean } {
  const { tasksAtMs, taskAttempts } = outbox;
  if (tasksAtMs === null || tasksAtMs > nowMs) return { outbox, tasks: false };
  if (taskAttempts < MAX_TASK_ATTEMPTS) {
    const started = { tasksAtMs: nowMs + TASKS_LEASE_MS, taskAttempts: taskAttempts + 1 };
    return { outbox: { ...outbox, ...started }, tasks: true };
  }
  // Every attempt lost its node: the session is finalized without them.
  const finalized = apply(outbox, [{ type: 'fact_ready', name: 'session.finalized' }]);
  return { outbox: { ...finalized, tasksAtMs: null }, tasks: false };
}

function stepTo(outbox: Outbox, nowMs: number): Pick<OutboxStep<unknown>, 'outbox' | 'nextAtMs'> {
  return { outbox, nextAtMs: nextAtMs(outbox, nowMs) };
}

function nextAtMs({ events, tasksAtMs, finalizeByMs }: Outbox, nowMs: number): number | null {
  if (isGateDone(events) && tasksAtMs === null) return null;
  const times = [nowMs + LOOK_AGAIN_MS];
  if (awaitsTimeout(events)) times.push(finalizeByMs);
  if (dueRow(events)) times.push(nowMs + CLAIM_LEASE_MS);
  for (const { status, leaseUntilMs } of events) if (status === 'sending') times.push(leaseUntilMs ?? nowMs);
  if (tasksAtMs !== null) times.push(tasksAtMs);
  return Math.min(...times);
}

function isLost({ status, leaseUntilMs }: OutboxEvent, nowMs: number): boolean {
  return status === 'sending' && nowMs >= (leaseUntilMs ?? 0);
}

/** @returns The same outbox when the events change nothing. */
function apply(outbox: Outbox, gateEvents: readonly GateEvent[]): Outbox {
  const events = gateEvents.reduce<readonly OutboxEvent[]>(transitionGate, outbox.events);
  return events === outbox.events ? outbox : { ...outbox, events };
}

function rowOf({ events }: Outbox, event: WebhookEventName): OutboxEvent | undefined {
  return events.find((row) => row.event === event);
}

function withFields(outbox: Outbox, event: WebhookEventName, fields: Partial<OutboxEvent>): Outbox {
  const events = outbox.events.map((row) => (row.event === event ? { ...row, ...fields } : row));
  return { ...outbox, events };
}
