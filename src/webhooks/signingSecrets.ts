import type { Clock } from '../base/clock.ts';
import type { StoredWebhookSecret, WebhookSecretStore } from '../conversation/webhookStores.ts';
import { makeSigningSecret } from './signature.ts';

/** So long after a rotation the secret before still signs, so that receivers can change over. */
const PREVIOUS_SIGNS_MS = 24 * 3_600_000;

export interface SigningSecrets {
  /** The project's secret, `whsec_…`, made at the first use. */
  current(projectId: string): Promise<string>;
  /** Those that sign now: the current one, and for 24 h after a rotation the one before. */
  signing(projectId: string): Promise<readonly string[]>;
  /** @returns The new secret. */
  rotate(projectId: string): Promise<string>;
}

export interface SigningSecretsDeps {
  readonly store: WebhookSecretStore;
  readonly clock: Clock;
  /** @default makeSigningSecret */
  readonly makeSecret?: () => string;
}

export function createSigningSecrets(deps: SigningSecretsDeps): SigningSecrets {
  const { store, clock, makeSecret = () => makeSigningSecret() } = deps;
  const now = () => new Date(clock.now()).toISOString();
  const kept = async (projectId: string): Promise<StoredWebhookSecret> =>
    (await store.find(projectId)) ?? (await store.insert(projectId, makeSecret(), now()));

  return {
    current: async (projectId) => (await kept(projectId)).secret,
    async signing(projectId) {
      const { secret, previous, rotatedAt } = await kept(projectId);
      const isRecent = clock.now() - Date.parse(rotatedAt) < PREVIOUS_SIGNS_MS;
      return previous !== null && isRecent ? [secret, previous] : [secret];
    },
    rotate: async (projectId) => (await store.rotate(projectId, makeSecret(), now())).secret,
  };
}
