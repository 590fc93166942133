import type { Clock } from '../base/clock.ts';
import { makeSigningSecret } from './signature.ts';

/** So long after a rotation the secret before still signs, so that receivers can change over. */
const PREVIOUS_SIGNS_MS = 24 * 3_600_000;

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

export interface SigningSecret {
  /** `whsec_…` */
  readonly secret: string;
  /** Until when the secret before this one signs as well; null when none does. */
  readonly previousValidUntil: string | null;
}

export interface SigningSecrets {
  /** The project's secret, made at the first use. */
  current(projectId: string): Promise<SigningSecret>;
  /** Those that sign now: the current one, and for 24 h after a rotation the one before. */
  signing(projectId: string): Promise<readonly string[]>;
  /**
   * @param within - The store of a transaction that the rotation is part of; default one of its own.
   * @returns The new secret.
   */
  rotate(projectId: string, within?: Pick<WebhookSecretStore, 'rotate'>): Promise<SigningSecret>;
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
  const shown = (stored: StoredWebhookSecret): SigningSecret => {
    const untilMs = Date.parse(stored.rotatedAt) + PREVIOUS_SIGNS_MS;
    const bothSign = stored.previous !== null && clock.now() < untilMs;
    return { secret: stored.secret, previousValidUntil: bothSign ? new Date(untilMs).toISOString() : null };
  };

  return {
    current: async (projectId) => shown(await kept(projectId)),
    async signing(projectId) {
      const stored = await kept(projectId);
      const { previousValidUntil } = shown(stored);
      return stored.previous !== null && previousValidUntil !== null
        ? [stored.secret, stored.previous]
        : [stored.secret];
    },
    rotate: async (projectId, within = store) => shown(await within.rotate(projectId, makeSecret(), now())),
  };
}
