import { toSessionUsage } from '../../../src/agents/cost/usage.ts';
import type { CallReport } from '../../../src/webhooks/callReport.ts';
import type { WebhookDelivery } from '../../../src/webhooks/deliveryStore.ts';
import type { Outbox, OutboxEvent, OutboxSession, OutboxStore } from '../../../src/webhooks/outboxStore.ts';

/** An ended chat. */
export const SESSION: OutboxSession = {
  projectId: '0190b0a0-0000-7000-8000-000000000001',
  sessionId: 's',
  releaseId: 'r',
  release: 3,
  channel: 'chat',
  callId: null,
  startedAt: '2026-01-01T10:00:00.000Z',
  endedAt: '2026-01-01T10:01:00.000Z',
  endReason: 'api_end',
  variables: {},
  messages: [],
  missingVariables: [],
  evaluation: undefined,
  analysis: undefined,
  usage: toSessionUsage({}),
  cost: null,
  factsAt: {},
};
export const ENDED_AT_MS = Date.parse(SESSION.endedAt);
export const CALL: CallReport = {
  call: {
    callId: 'c',
    direction: 'outbound',
    fromNumber: '+886223456789',
    toNumber: '+886912345678',
    status: 'completed',
    endReason: 'caller_hangup',
    durationMs: 42_000,
    sip: { code: 200, reason: 'OK' },
    answeringMachine: 'human',
    metadata: {},
    externalId: null,
    campaignId: null,
    contactId: null,
    violations: [],
    dynamicVariables: {},
  },
  recording: { status: 'ready', durationMs: 41_900 },
  recordingUrl: 'https://callway.example/r?signature=1',
};

export function eventRow(event: OutboxEvent['event'], fields: Partial<OutboxEvent> = {}): OutboxEvent {
  const fresh = { subscribed: true, status: 'waiting', outcome: null, attempt: 0 } as const;
  return { event, ...fresh, deliveryId: null, leaseUntilMs: null, ...fields };
}

/** Of a chat that has just ended, without post-session tasks. */
export function outboxOf(fields: Partial<Outbox> = {}): Outbox {
  return {
    finalizeByMs: ENDED_AT_MS + 36_000_000,
    evaluating: false,
    tasksAtMs: null,
    taskAttempts: 0,
    events: [eventRow('session.ended'), eventRow('session.finalized')],
    facts: [],
    ...fields,
  };
}

interface MemoryOutboxOptions {
  readonly outbox?: Partial<Outbox>;
  readonly session?: Partial<OutboxSession>;
  /** Called between the commit of a step and its answer. */
  readonly onCommitted?: ((step: number) => Promise<void> | void) | undefined;
}

/** The outbox of one ended session, named `i`, as the database keeps it. */
export function memoryOutbox({ outbox: given, session: change, onCommitted }: MemoryOutboxOptions = {}) {
  const deliveries: WebhookDelivery[] = [];
  const releasedAtMs: number[] = [];
  let session: OutboxSession = { ...SESSION, ...change };
  let kept = outboxOf(given);
  let steps = 0;
  let nextAtMs: number | null = ENDED_AT_MS;
  const outbox: OutboxStore = {
    async claimDue(now, until) {
      if (nextAtMs === null || nextAtMs > now.getTime()) return { claimed: [], nextDueAt: null };
      nextAtMs = until.getTime();
      return { claimed: [{ id: 'i', projectId: session.projectId }], nextDueAt: null };
    },
    async release(_instanceId, now) {
      releasedAtMs.push(now.getTime());
      if (nextAtMs !== null) nextAtMs = Math.min(nextAtMs, now.getTime());
    },
    async recordFact() {
      throw new Error('not used here');
    },
    async saveResults(_instanceId, { evaluation, analysis }, at) {
      kept = { ...kept, facts: [...kept.facts, 'session.finalized'] };
      const factsAt = { 'session.finalized': at.toISOString(), ...session.factsAt };
      session = {
        ...session,
        factsAt,
        evaluation: evaluation ?? session.evaluation,
        analysis: analysis ?? session.analysis,
      };
      nextAtMs = Math.min(nextAtMs ?? Number.POSITIVE_INFINITY, at.getTime());
    },
    session: async () => (nextAtMs === null ? undefined : session),
    async advance(instanceId, step) {
      if (nextAtMs === null || instanceId !== 'i') return undefined;
      const { delivery, result, ...next } = step(kept);
      ({ outbox: kept, nextAtMs } = next);
      if (delivery) deliveries.push(delivery);
      steps += 1;
      await onCommitted?.(steps);
      return result;
    },
  };
  return {
    outbox,
    deliveries,
    releasedAtMs,
    steps: () => steps,
    row: (event: OutboxEvent['event']) => kept.events.find((row) => row.event === event),
    /** Undefined when the session has no outbox any more. */
    kept: () => (nextAtMs === null ? undefined : kept),
    remove: () => {
      nextAtMs = null;
    },
  };
}
