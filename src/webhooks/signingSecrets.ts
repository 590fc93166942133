import { randomBytes } from 'node:crypto';

import type { Clock } from '../base/values/clock.ts';

/** The time for which the previous secret signs as well after a rotation, so that receivers can switch. */
const PREVIOUS_SIGNS_MS = 24 * 3_600_000;
/** The secret is as long as the hash's output; more would add nothing. */
const SECRET_BYTES = 32;

export interface StoredWebhookSecret {
  readonly secret: string;
  /** The one before the last rotation. */
  readonly previous: string | null;
  readonly rotatedAt: string;
}

export interface WebhookSecretStore {
  find(projectId: string): Promise<StoredWebhookSecret | undefined>;
  /** Inserts a project's first secret, unless it has one. @returns The stored one. */
  insert(projectId: string, secret: string, at: string): Promise<StoredWebhookSecret>;
  /** Replaces the current secret, which becomes the previous one. */
  rotate(projectId: string, secret: string, at: string): Promise<StoredWebhookSecret>;
}

export interface SigningSecret {
  /** `whsec_…` */
  readonly secret: string;
  /** The time until which the previous secret signs as well; null when it does not. */
  readonly previousValidUntil: string | null;
}

export interface SigningSecrets {
  /** The project's secret, created on first use. */
  current(projectId: string): Promise<SigningSecret>;
  /** The secrets that sign now: the current one, and for 24 h after a rotation the previous one. */
  signing(projectId: string): Promise<readonly string[]>;
  /**
   * @param within - The store of an enclosing transaction.
   * @returns The new secret.
   */
  rotate(projectId: string, within?: WebhookSecretStore): Promise<SigningSecret>;
}

export interface SigningSecretsDeps {
  readonly store: WebhookSecretStore;
  readonly clock: Clock;
  /** @default makeSigningSecret */
  readonly makeSecret?: () => string;
}

export function createSigningSecrets(deps: SigningSecretsDeps): SigningSecrets {
  const { store, clock, makeSecret = makeSigningSecret } = deps;
  const now = () => new Date(clock.now()).toISOString();
  const findOrInsert = async (projectId: string): Promise<StoredWebhookSecret> =>
    (await store.find(projectId)) ?? (await store.insert(projectId, makeSecret(), now()));
  const toSigningSecret = ({ secret, previous, rotatedAt }: StoredWebhookSecret): SigningSecret => {
    const untilMs = Date.parse(rotatedAt) + PREVIOUS_SIGNS_MS;
    const bothSign = previous !== null && clock.now() < untilMs;
    return { secret, previousValidUntil: bothSign ? new Date(untilMs).toISOString() : null };
  };

  return {
    current: async (projectId) => toSigningSecret(await findOrInsert(projectId)),
    async signing(projectId) {
      const stored = await findOrInsert(projectId);
      const { secret, previousValidUntil } = toSigningSecret(stored);
      return previousValidUntil === null || stored.previous === null ? [secret] : [secret, stored.previous];
    },
    rotate: async (projectId, within = store) =>
      toSigningSecret(await within.rotate(projectId, makeSecret(), now())),
  };
}

/** `whsec_` and random bytes in base64. */
export function makeSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
