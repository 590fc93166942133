import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { MakeId } from '../base/ids.ts';
import { DELIVERY_TIMEOUT_MS } from './delivery.ts';
import {
  type EndedGate,
  type GateEvent,
  isGateDone,
  pendingEffects,
  transitionGate,
} from './deliveryGate.ts';
import type { WebhookDelivery } from './deliveryStore.ts';
import type { Outbox, OutboxEvent, OutboxStep } from './outboxStore.ts';

/** A sender that has said nothing for so long is lost; longer than any delivery takes, with time to keep its end. */
export const SENDER_LEASE_MS = 3 * DELIVERY_TIMEOUT_MS;
/** An event whose turn has come, and that its node has not begun to send by then, is another node's. */
export const TURN_LEASE_MS = 30_000;
/** Evaluating and remembering that has not ended by then was lost with its node, and is begun anew. */
export const TASKS_LEASE_MS = 90_000;
const MAX_AFTERWARDS_ATTEMPTS = 3;
/** Where nothing but a fact is waited for, whoever tells it moves this forward. */
const LOOK_AGAIN_MS = 3_600_000;

/** An event whose turn it is. */
export interface DueEvent {
  readonly event: WebhookEventName;
  readonly deliveryId: string;
  /** How often sending was begun before. */
  readonly attempt: number;
}

/** What a node has to do for a session that it has just looked at. */
export interface Due {
  readonly send: DueEvent | null;
  /** Evaluating and remembering is due. */
  readonly tasks: boolean;
}

/**
 * Brings a session up to date with what is known and what time it is, and says what is due: the step that a node
 * takes first, whether the session has just ended or another node has died over it.
 */
export function catchUp(outbox: Outbox, nowMs: number, makeId: MakeId): OutboxStep<Due> {
  const facts = new Set<WebhookEventName>(outbox.facts).add('session.ended');
  if (!outbox.evaluating) facts.add('session.finalized');
  const told = apply(outbox, [
    ...outbox.events.filter(({ event }) => facts.has(event)).map(factReady),
    ...outbox.events.filter((row) => isLost(row, nowMs)).map(senderLost),
    ...(nowMs >= outbox.finalizeByMs ? [{ type: 'backstop_due' } as const] : []),
  ]);
  const { afterwards, outbox: begun } = beginAfterwards(told, nowMs);
  const turn = turnOf(begun);
  const named = turn ? change(begun, turn.event, { deliveryId: turn.deliveryId ?? makeId() }) : begun;
  const row = named.events.find(({ event }) => event === turn?.event);
  return {
    outbox: named,
    nextAtMs: nextAt(named, nowMs),
    result: {
      tasks: afterwards,
      send: row?.deliveryId ? { event: row.event, deliveryId: row.deliveryId, attempt: row.attempt } : null,
    },
  };
}

/** Asks for leave to send. @returns The number of the attempt, or undefined where there is no leave. */
export function claimSend(
  outbox: Outbox,
  event: WebhookEventName,
  nowMs: number,
): OutboxStep<number | undefined> {
  const { state, effects } = transitionGate(gateOf(outbox), { type: 'delivery_begun', name: event });
  const leave = effects.find(({ type }) => type === 'send');
  if (leave?.type !== 'send') return { outbox, nextAtMs: nextAt(outbox, nowMs), result: undefined };
  const begun = change(withGate(outbox, state as EndedGate), event, {
    leaseUntilMs: nowMs + SENDER_LEASE_MS,
  });
  return { outbox: begun, nextAtMs: nextAt(begun, nowMs), result: leave.attempt };
}

/** Settles an attempt by how it went. @param delivery - Its record. */
export function settleAttempt(
  outbox: Outbox,
  settled: { readonly event: WebhookEventName; readonly attempt: number; readonly ok: boolean },
  nowMs: number,
  delivery: WebhookDelivery,
): OutboxStep<void> {
  const { event, attempt, ok } = settled;
  const outcome = ok ? 'delivered' : 'failed';
  const next = apply(outbox, [{ type: 'delivery_settled', name: event, attempt, outcome }]);
  // What is due next is done at once by whoever settled this.
  return { outbox: next, nextAtMs: nextAt(next, nowMs), delivery, result: undefined };
}

/** Settles an event that could not be sent, and for which no leave was asked; changes nothing where another node is at it. */
export function failUnsent(
  outbox: Outbox,
  { event, attempt }: DueEvent,
  nowMs: number,
  delivery: WebhookDelivery,
): OutboxStep<void> {
  const row = outbox.events.find((one) => one.event === event);
  if (row?.status === 'ready' && row.attempt === attempt) {
    return settleAttempt(outbox, { event, attempt, ok: false }, nowMs, delivery);
  }
  return { outbox, nextAtMs: nextAt(outbox, nowMs), result: undefined };
}

/** Gives back leave on which nothing was sent, so that the event may be begun again. */
export function releaseSend(
  outbox: Outbox,
  { event, attempt }: { readonly event: WebhookEventName; readonly attempt: number },
  nowMs: number,
): OutboxStep<void> {
  const next = apply(outbox, [{ type: 'leave_returned', name: event, attempt }]);
  return { outbox: next, nextAtMs: nextAt(next, nowMs), result: undefined };
}

/** Evaluating and remembering is over. */
export function endTasks(outbox: Outbox, nowMs: number): OutboxStep<void> {
  const next = { ...outbox, afterwardsAtMs: null };
  return { outbox: next, nextAtMs: nextAt(next, nowMs), result: undefined };
}

function beginAfterwards(outbox: Outbox, nowMs: number): { outbox: Outbox; afterwards: boolean } {
  const { tasksAtMs: afterwardsAtMs, taskAttempts: afterwardsAttempts } = outbox;
  if (afterwardsAtMs === null || afterwardsAtMs > nowMs) return { outbox, afterwards: false };
  if (afterwardsAttempts < MAX_AFTERWARDS_ATTEMPTS) {
    const afterwards = {
      afterwardsAtMs: nowMs + TASKS_LEASE_MS,
      afterwardsAttempts: afterwardsAttempts + 1,
    };
    return { outbox: { ...outbox, ...afterwards }, afterwards: true };
  }
  // It has cost three nodes; the session does without.
  const given = apply(outbox, [{ type: 'fact_ready', name: 'session.finalized' }]);
  return { outbox: { ...given, tasksAtMs: null }, afterwards: false };
}

/** When to look at it next; null once all is done. */
function nextAt(outbox: Outbox, nowMs: number): number | null {
  const gate = gateOf(outbox);
  if (isGateDone(gate) && outbox.tasksAtMs === null) return null;
  const times = [nowMs + LOOK_AGAIN_MS];
  for (const effect of pendingEffects(gate)) {
    times.push(effect.type === 'arm_backstop' ? effect.atMs : nowMs + TURN_LEASE_MS);
  }
  for (const { status, leaseUntilMs } of outbox.events) {
    if (status === 'sending') times.push(leaseUntilMs ?? nowMs);
  }
  if (outbox.tasksAtMs !== null) times.push(outbox.tasksAtMs);
  return Math.min(...times);
}

function turnOf(outbox: Outbox): OutboxEvent | undefined {
  const effect = pendingEffects(gateOf(outbox)).find(({ type }) => type !== 'arm_backstop');
  if (effect?.type === 'claim_finalized') return outbox.events.at(-1);
  return effect?.type === 'deliver' ? outbox.events.find(({ event }) => event === effect.name) : undefined;
}

function factReady({ event }: OutboxEvent): GateEvent {
  return { type: 'fact_ready', name: event };
}

function senderLost({ event, attempt }: OutboxEvent): GateEvent {
  return { type: 'sender_lost', name: event, attempt };
}

function isLost({ status, leaseUntilMs }: OutboxEvent, nowMs: number): boolean {
  return status === 'sending' && nowMs >= (leaseUntilMs ?? 0);
}

function gateOf({ finalizeByMs, events }: Outbox): EndedGate {
  return { phase: 'ended', finalizeByMs, rows: events };
}

function apply(outbox: Outbox, events: readonly GateEvent[]): Outbox {
  const before = gateOf(outbox);
  const after = events.reduce<EndedGate>(
    (gate, event) => transitionGate(gate, event).state as EndedGate,
    before,
  );
  return withGate(outbox, after);
}

/** The gate changes rows by copying them, so that what it does not know of stays with them. */
function withGate(outbox: Outbox, { rows }: EndedGate): Outbox {
  const events = rows.map((row, index): OutboxEvent => {
    const before = outbox.events[index];
    const { deliveryId = null, leaseUntilMs = null } = before ?? {};
    return before && isSame(before, row) ? before : { ...row, deliveryId, leaseUntilMs };
  });
  return { ...outbox, events };
}

function isSame(before: OutboxEvent, row: EndedGate['rows'][number]): boolean {
  return before.status === row.status && before.outcome === row.outcome && before.attempt === row.attempt;
}

function change(outbox: Outbox, event: WebhookEventName, fields: Partial<OutboxEvent>): Outbox {
  return {
    ...outbox,
    events: outbox.events.map((row) => (row.event === event ? { ...row, ...fields } : row)),
  };
}
