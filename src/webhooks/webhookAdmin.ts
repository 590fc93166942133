import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { Page } from '../base/page.ts';
import type { WebhookDeliveryStore } from './deliveryStore.ts';
import type { SigningSecrets, WebhookSecretStore } from './signingSecrets.ts';

export interface WebhookAdminDeps {
  readonly deliveries: Pick<WebhookDeliveryStore, 'list'>;
  readonly secrets: SigningSecrets;
}

/** What a project's operator sees of its webhooks: what was sent, and the secret that signs it. */
export function createWebhookAdmin({ deliveries, secrets }: WebhookAdminDeps) {
  return {
    async deliveries(
      projectId: string,
      filter: { readonly sessionId?: string; readonly event?: WebhookEventName },
      page: Page,
    ) {
      const { items, total } = await deliveries.list(projectId, filter, page);
      const shown = items.map(({ id, event, sessionId, url, at, status, durationMs, error }) => {
        const ok = status !== null && error === null;
        return { deliveryId: id, event, sessionId, url, at, ok, status, durationMs, error };
      });
      return { items: shown, total };
    },
    secret: (projectId: string) => secrets.current(projectId),
    rotate: (projectId: string, store: Pick<WebhookSecretStore, 'rotate'>) =>
      secrets.rotate(projectId, store),
  };
}
