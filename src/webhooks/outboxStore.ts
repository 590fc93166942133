import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { SessionCost } from '../agents/cost/rates.ts';
import type { SessionUsage } from '../agents/cost/usage.ts';
import type { Analysis, SessionResults } from '../engine/history/sessionResults.ts';
import type { Channel, SessionMessage } from '../engine/session/session.ts';
import type { DueWork } from '../work/work.ts';
import type { GateRow } from './deliveryGate.ts';
import type { WebhookDelivery } from './deliveryStore.ts';

export interface OutboxEvent extends GateRow {
  /** The same for every attempt; set once the event is next in order. */
  readonly deliveryId: string | null;
  /** When the sender counts as lost, while `sending`. */
  readonly leaseUntilMs: number | null;
}

/** The work that is left for one ended session. Times are in milliseconds since the Unix epoch. */
export interface Outbox {
  readonly finalizeByMs: number;
  /** Whether `session.finalized` waits for an evaluation or an analysis. */
  readonly evaluating: boolean;
  /** When the post-session tasks may be started, or restarted after their node failed; null when they are done. */
  readonly tasksAtMs: number | null;
  readonly taskAttempts: number;
  /** The events in the order of sending. */
  readonly events: readonly OutboxEvent[];
  /** The events whose facts are known; `session.finalized` once the session is judged. */
  readonly facts: readonly WebhookEventName[];
}

export interface OutboxStep<Result> {
  readonly outbox: Outbox;
  /** When to look at it next; null when everything is done and the outbox can be removed. */
  readonly nextAtMs: number | null;
  /** Stored with the step, in the delivery log and in the session's history. */
  readonly delivery?: WebhookDelivery;
  readonly result: Result;
}

/** The data of an ended session for its webhooks. */
export interface OutboxSession {
  readonly projectId: string;
  readonly sessionId: string;
  readonly releaseId: string;
  /** The number of the release; null for the working copy. */
  readonly release: number | null;
  readonly channel: Channel;
  readonly callId: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly endReason: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly messages: readonly SessionMessage[];
  /** Required variables without a value. */
  readonly missingVariables: readonly string[];
  readonly evaluation: unknown;
  readonly analysis: Analysis | undefined;
  readonly usage: SessionUsage;
  readonly cost: SessionCost | null;
  /** When each event's fact became known. */
  readonly factsAt: Partial<Readonly<Record<WebhookEventName, string>>>;
}

/** The outboxes of ended sessions; any node may work on any of them. */
export interface OutboxStore extends DueWork {
  /**
   * Locks one outbox, runs `step`, and stores its result, in one transaction.
   *
   * @returns The step's result; undefined when nothing is left to do.
   */
  advance<Result>(
    instanceId: string,
    step: (outbox: Outbox) => OutboxStep<Result>,
  ): Promise<Result | undefined>;
  /** Releases a session that `claimDue` returned, so that another node need not wait. */
  release(instanceId: string, now: Date): Promise<void>;
  session(instanceId: string): Promise<OutboxSession | undefined>;
  /** Records that the fact of an event is known, before or after the session's end. The first time counts. */
  recordFact(instanceId: string, event: WebhookEventName, at: Date): Promise<void>;
  /** Stores what was found out, which may be nothing, and records the fact of `session.finalized`. */
  saveResults(instanceId: string, results: SessionResults, at: Date): Promise<void>;
}
