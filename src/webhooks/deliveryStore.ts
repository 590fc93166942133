import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { Page, PageOf } from '../base/page.ts';

/** One attempt to send one event, as logged. */
export interface WebhookDelivery {
  /** The header `webhook-id`. */
  readonly id: string;
  /** From 1; an event whose sender was lost is sent again under the same id. */
  readonly attempt: number;
  readonly event: WebhookEventName;
  readonly url: string;
  /** The receiver's HTTP status; null without an answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly at: string;
  /** The body that was sent, possibly truncated. */
  readonly body: string | null;
}

export interface WebhookDeliveryStore {
  /** Newest first. */
  list(
    projectId: string,
    filter: { readonly sessionId?: string; readonly event?: WebhookEventName },
    page: Page,
  ): Promise<PageOf<WebhookDelivery & { readonly sessionId: string }>>;
}
