import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { Page, PageOf } from '../base/page.ts';
import type { Channel, SessionMessage } from './session/session.ts';

/**
 * - `waiting`: its fact is not known yet.
 * - `ready`: its fact is known; it is sent when every event before it is settled or expired.
 * - `sending`: a sender may have written the last byte, without which nothing is sent.
 * - `settled`: nothing more will be sent; `outcome` says why.
 * - `expired`: the backstop came before its fact; it will never be sent.
 */
export type GateStatus = 'waiting' | 'ready' | 'sending' | 'settled' | 'expired';

/**
 * `delivered` and `failed` are the receiver's answer, or its lack; `skipped` was not subscribed to; `unknown` is a
 * `session.finalized` whose sender was lost once it had leave to send.
 */
export type GateOutcome = 'delivered' | 'failed' | 'skipped' | 'unknown';

/** One expected event of one session: one row of a table, whose key is session and event. */
export interface GateRow {
  readonly event: WebhookEventName;
  readonly subscribed: boolean;
  readonly status: GateStatus;
  /** Set exactly when `settled`. */
  readonly outcome: GateOutcome | null;
  /** How often sending was begun. What is told of an earlier attempt is ignored. */
  readonly attempt: number;
}

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
  readonly afterwardsAtMs: number | null;
  readonly afterwardsAttempts: number;
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
export interface DispatchRoom {
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
export interface WebhookOutbox {
  /**
   * Takes due sessions for this node: no other is given them before `until`.
   *
   * @returns Those that are due for longest first, but of no project more than it has room for.
   */
  claimDue(now: Date, until: Date, room: DispatchRoom): Promise<ClaimedSession[]>;
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
  tell(instanceId: string, event: WebhookEventName, at: Date): Promise<void>;
  /** Keeps an evaluation, or that there is none, in the history, and tells that it is over. */
  keepEvaluation(instanceId: string, evaluation: unknown, at: Date): Promise<void>;
}

/** One sending of one event, as it is shown. */
export interface WebhookDelivery {
  /** The header `webhook-id`. */
  readonly id: string;
  /** From 1; an event whose sender was lost is sent again under the same id. */
  readonly attempt: number;
  readonly event: WebhookEventName;
  readonly url: string;
  /** The receiver's HTTP status; null when there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly at: string;
  /** What was sent, as far as it is kept. */
  readonly body: string | null;
}

export interface WebhookDeliveryStore {
  /** Newest first. */
  list(
    projectId: string,
    filter: { readonly sessionId?: string; readonly event?: WebhookEventName },
    page: Page,
  ): Promise<PageOf<WebhookDelivery & { readonly sessionId: string }>>;
  /** Removes what is older than its project keeps its history. @returns How many went. */
  purge(now: Date): Promise<number>;
}

export interface StoredWebhookSecret {
  readonly secret: string;
  /** The one before, however long ago that was. */
  readonly previous: string | null;
  readonly rotatedAt: string;
}

export interface WebhookSecretStore {
  find(projectId: string): Promise<StoredWebhookSecret | undefined>;
  /** Keeps a project's first secret, unless it has one by now. @returns The one that it has. */
  insert(projectId: string, secret: string, at: string): Promise<StoredWebhookSecret>;
  /** Puts a new one in the place of the current one, which becomes the previous. */
  rotate(projectId: string, secret: string, at: string): Promise<StoredWebhookSecret>;
}
