import type { WebhookEventName } from '../agents/agentConfig.ts';
import { mapPage, type Page, type PageOf } from '../base/page.ts';
import type { WebhookDelivery, WebhookDeliveryStore } from './deliveryStore.ts';
import type { SigningSecret, SigningSecrets, WebhookSecretStore } from './signingSecrets.ts';

export interface DeliverySummary
  extends Pick<WebhookDelivery, 'event' | 'url' | 'at' | 'status' | 'durationMs' | 'error'> {
  readonly deliveryId: string;
  readonly sessionId: string;
  /** Whether the receiver answered 2xx. */
  readonly ok: boolean;
}

export interface DeliveryFilter {
  readonly sessionId?: string;
  readonly event?: WebhookEventName;
}

/** The delivery log and the signing secret, for a project's operator. */
export interface WebhookAdmin {
  /** Newest first. */
  deliveries(projectId: string, filter: DeliveryFilter, page: Page): Promise<PageOf<DeliverySummary>>;
  secret(projectId: string): Promise<SigningSecret>;
  /** @param store - Of the enclosing transaction. */
  rotate(projectId: string, store: Pick<WebhookSecretStore, 'rotate'>): Promise<SigningSecret>;
}

export function createWebhookAdmin({
  deliveries,
  secrets,
}: {
  readonly deliveries: Pick<WebhookDeliveryStore, 'list'>;
  readonly secrets: Pick<SigningSecrets, 'current' | 'rotate'>;
}): WebhookAdmin {
  return {
    async deliveries(projectId, filter, page) {
      const found = await deliveries.list(projectId, filter, page);
      return mapPage(found, ({ id, event, sessionId, url, at, status, durationMs, error }) => {
        const ok = status !== null && error === null;
        return { deliveryId: id, event, sessionId, url, at, ok, status, durationMs, error };
      });
    },
    secret: (projectId) => secrets.current(projectId),
    rotate: (projectId, store) => secrets.rotate(projectId, store),
  };
}
