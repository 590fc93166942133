import { z } from 'zod';

import { webhookEventName } from '../agents/agentConfig.ts';
import type { Page, PageOf } from '../base/values/page.ts';
import { LIVE_EVENT_TYPES } from '../events/liveEvent.ts';

/** What a delivery is for: a field of the agent, or the `webhook` of an alert. */
export const webhookKind = z.enum(['postSessionWebhook', 'eventWebhook', 'alertWebhook']);
export type WebhookKind = z.infer<typeof webhookKind>;

/** The events of both kinds of webhooks, some of which have the same name. */
export const deliveredEvent = z.enum([...new Set([...webhookEventName.options, ...LIVE_EVENT_TYPES])]);
export type DeliveredEvent = z.infer<typeof deliveredEvent>;

/** One attempt to send one event, as logged. */
export interface WebhookDelivery {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The attempt, from 1; an event that is sent again keeps its id. */
  readonly attempt: number;
  readonly event: DeliveredEvent;
  readonly url: string;
  /** The receiver's HTTP status; null without an answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly at: string;
  /** The body that was sent; null where the project keeps no history. */
  readonly body: string | null;
  /** The beginning of the receiver's answer; null where it is no text, or the project keeps no history. */
  readonly answer: string | null;
}

/** A logged attempt, in its place. */
export interface LoggedDelivery extends WebhookDelivery {
  readonly webhook: WebhookKind;
  /** The session's id; null for an event that belongs to no session. */
  readonly sessionId: string | null;
}

export interface DeliveryFilter {
  readonly sessionId?: string;
  readonly event?: DeliveredEvent;
  readonly webhook?: WebhookKind;
}

export interface WebhookDeliveryStore {
  /** Newest first. */
  list(projectId: string, filter: DeliveryFilter, page: Page): Promise<PageOf<LoggedDelivery>>;
  /** Finds a delivery with its newest attempt. */
  find(projectId: string, deliveryId: string): Promise<LoggedDelivery | undefined>;
}
