import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { Channel, SessionMessage } from '../engine/session/session.ts';
import type { GateRow } from './deliveryGate.ts';
import type { WebhookDelivery } from './deliveryStore.ts';

export interface OutboxEvent extends GateRow {
  /** The same at every sending; given once the event's turn has come. */
  readonly deliveryId: string | null;
  /** While `sending`: when its sender is taken to be lost. */
  readonly leaseUntilMs: number | null;
}

/** What is left to do for one ended session. Times in milliseconds since the Unix epoch. */
export interface Outbox {
  readonly finalizeByMs: number;
  /** Whether session.finalized waits for an evaluation. */
  readonly evaluating: boolean;
  /** When evaluating and remembering may be begun, or begun anew after their node died; null when they are over. */
  readonly tasksAtMs: number | null;
  readonly taskAttempts: number;
  /** In the order of sending. */
  readonly events: readonly OutboxEvent[];
  /** The events whose facts are known; session.finalized once its evaluation is over. */
  readonly facts: readonly WebhookEventName[];
}

/** What a step makes of an outbox. */
export interface OutboxStep<Result> {
  readonly outbox: Outbox;
  /** When somebody should look again; null when everything is done and the outbox can go. */
  readonly nextAtMs: number | null;
  /** Kept with the step, in the records and in the session's history. */
  readonly delivery?: WebhookDelivery;
  readonly result: Result;
}

/** What the webhooks of an ended session tell of. */
export interface OutboxSession {
  readonly projectId: string;
  readonly sessionId: string;
  readonly releaseId: string;
  readonly channel: Channel;
  readonly callId: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly endReason: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly messages: readonly SessionMessage[];
  readonly evaluation: unknown;
  /** When each event's fact became known. */
  readonly factsAt: Partial<Readonly<Record<WebhookEventName, string>>>;
}

/** How many sessions a node may take on. */
export interface DispatchCapacity {
  readonly sessions: number;
  /** Of each project at most, with those that the node is at already. */
  readonly perProject: number;
  /** How many the node is at, by project. */
  readonly running: ReadonlyMap<string, number>;
}

export interface ClaimedSession {
  readonly instanceId: string;
  readonly projectId: string;
}

/** Ended sessions whose webhooks are not finished; any node may go on with any of them. */
export interface OutboxStore {
  /**
   * Takes due sessions for this node: no other is given them before `until`.
   *
   * @returns Those that are due for longest first, but of no project more than it has room for.
   */
  claimDue(now: Date, until: Date, room: DispatchCapacity): Promise<ClaimedSession[]>;
  /**
   * Locks one session, lets `step` decide, and keeps what it decided, all in one transaction.
   *
   * @returns The step's result; undefined where nothing is left to do.
   */
  advance<Result>(
    instanceId: string,
    step: (outbox: Outbox) => OutboxStep<Result>,
  ): Promise<Result | undefined>;
  /** Gives up what `claimDue` gave, so that another node need not wait. */
  release(instanceId: string, now: Date): Promise<void>;
  session(instanceId: string): Promise<OutboxSession | undefined>;
  /** Notes that what an event reports is known, before or after the session's end; the first time counts. */
  recordFact(instanceId: string, event: WebhookEventName, at: Date): Promise<void>;
  /** Keeps an evaluation, or that there is none, in the history, and tells that it is over. */
  saveEvaluation(instanceId: string, evaluation: unknown, at: Date): Promise<void>;
}
