import { CallwayError, notFound } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import { isUuid } from '../base/values/ids.ts';
import { mapPage, type Page, type PageOf } from '../base/values/page.ts';
import type { DeliveryFilter, LoggedDelivery, WebhookDeliveryStore } from './deliveryStore.ts';
import type { EventQueueStore } from './eventQueue.ts';
import type { SigningSecret, SigningSecrets, WebhookSecretStore } from './signingSecrets.ts';

export interface DeliverySummary
  extends Pick<
    LoggedDelivery,
    | 'attempt'
    | 'event'
    | 'webhook'
    | 'sessionId'
    | 'url'
    | 'at'
    | 'status'
    | 'durationMs'
    | 'error'
    | 'answer'
  > {
  readonly deliveryId: string;
  /** Whether the receiver answered 2xx. */
  readonly ok: boolean;
}

/** A delivery with its newest attempt and the body. */
interface DeliveryDetail extends DeliverySummary, Pick<LoggedDelivery, 'body'> {}

/** The delivery log and the signing secret, for a project's operator. */
export interface WebhookAdmin {
  /** Newest first. */
  deliveries(projectId: string, filter: DeliveryFilter, page: Page): Promise<PageOf<DeliverySummary>>;
  /** @throws {CallwayError} 404 `webhook_delivery_not_found` */
  delivery(projectId: string, deliveryId: string): Promise<DeliveryDetail>;
  /**
   * Sends a delivery once more, under its id.
   *
   * @throws {CallwayError} 404 `webhook_delivery_not_found`, 409 `delivery_body_not_kept`
   */
  redeliver(projectId: string, deliveryId: string): Promise<void>;
  secret(projectId: string): Promise<SigningSecret>;
  /** @param store - The store of the enclosing transaction. */
  rotate(projectId: string, store: WebhookSecretStore): Promise<SigningSecret>;
}

export function createWebhookAdmin({
  deliveries,
  queue,
  clock,
  onQueued,
  secrets,
}: {
  readonly deliveries: WebhookDeliveryStore;
  readonly queue: EventQueueStore;
  readonly clock: Clock;
  /** A delivery is due. */
  readonly onQueued: () => void;
  readonly secrets: SigningSecrets;
}): WebhookAdmin {
  return {
    async deliveries(projectId, filter, page) {
      const found = await deliveries.list(projectId, filter, page);
      return mapPage(found, (delivery) => {
        const { body: _body, ...summary } = detailOf(delivery);
        return summary;
      });
    },
    async delivery(projectId, deliveryId) {
      const found = isUuid(deliveryId) ? await deliveries.find(projectId, deliveryId) : undefined;
      if (!found) throw notFound('Webhook delivery');
      return detailOf(found);
    },
    async redeliver(projectId, deliveryId) {
      const found = isUuid(deliveryId)
        ? await queue.repeat(projectId, deliveryId, new Date(clock.now()))
        : undefined;
      if (!found) throw notFound('Webhook delivery');
      if (found === 'without_body') {
        const message = 'The body of this delivery was not kept, so that it cannot be sent again';
        throw new CallwayError('conflict', 'delivery_body_not_kept', message);
      }
      onQueued();
    },
    secret: (projectId) => secrets.current(projectId),
    rotate: (projectId, store) => secrets.rotate(projectId, store),
  };
}

function detailOf({ id, ...delivery }: LoggedDelivery): DeliveryDetail {
  const ok = delivery.status !== null && delivery.error === null;
  return { deliveryId: id, ...delivery, ok };
}
