import { timingSafeEqual } from 'node:crypto';

import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/repeat.ts';
import { digestCredential, looksLikeApiKey } from './apiKey.ts';
import type { KeyPrincipal, Principal } from './principal.ts';

/** Longest time that a found key is believed without asking again, as a second line behind the announcements. */
const CACHE_MILLISECONDS = 30_000;
/** Bounds the memory for keys to about 5 MB. */
const CACHE_ENTRIES = 10_000;
/** A key's `lastUsedAt` is as exact as this. */
const USE_FLUSH_MILLISECONDS = 5_000;

/** How nodes hear of revoked keys. */
export interface Revocations {
  /** Whether announcements are heard at present; while they are not, nothing remembered is believed. */
  heard(): boolean;
  /** @returns A function that ends the listening. */
  listen(onRevoked: (digests: readonly string[]) => void, onDeaf: () => void): () => void;
  /** Resolves once every node that listens has forgotten these keys. */
  announce(digests: readonly string[]): Promise<void>;
}

export interface ApiAuthenticatorDeps {
  readonly findByDigest: (digest: string) => Promise<KeyPrincipal | undefined>;
  readonly markUsed: (uses: ReadonlyMap<string, Date>) => Promise<void>;
  readonly revocations: Revocations;
  readonly adminToken: string;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export interface ApiAuthenticator {
  /** Who holds this credential, if anybody; what is remembered needs no look-up. */
  authenticate(credential: string): Promise<Principal | undefined>;
  /** As `authenticate`, but at once and only from memory: finds the operator, and keys that were found lately. */
  authenticateFromCache(credential: string): Principal | undefined;
  /** Keeps the last uses, and stops. Idempotent. */
  close(): Promise<void>;
}

/** Tells who a credential belongs to, with a memory that a revocation on any node clears at once. */
export function createApiAuthenticator(deps: ApiAuthenticatorDeps): ApiAuthenticator {
  const { clock, revocations } = deps;
  const adminDigest = Buffer.from(digestCredential(deps.adminToken), 'hex');
  // By the credential itself, which spares each request a digest. A Map compares texts only after their hashes, which
  // a secret of this process goes into: the time that it takes tells nothing of a key that is nearly right.
  const cache = new Map<string, { digest: string; principal: KeyPrincipal; until: number }>();
  let generation = 0;
  let uses = new Map<string, number>();
  let closed = false;

  const stopListening = revocations.listen(
    (digests) => {
      generation += 1;
      const revoked = new Set(digests);
      for (const [credential, { digest }] of cache) if (revoked.has(digest)) cache.delete(credential);
    },
    () => {
      generation += 1;
      cache.clear();
    },
  );

  const flush = async () => {
    const batch = uses;
    if (batch.size === 0) return;
    uses = new Map();
    const times = new Map([...batch].map(([keyId, atMs]) => [keyId, new Date(atMs)]));
    await deps.markUsed(times);
  };
  const stopFlushing = repeat(clock, USE_FLUSH_MILLISECONDS, flush, deps.onError);

  const remember = (credential: string, digest: string, principal: KeyPrincipal) => {
    if (cache.size >= CACHE_ENTRIES) cache.delete(cache.keys().next().value ?? '');
    cache.set(credential, { digest, principal, until: clock.monotonicMs() + CACHE_MILLISECONDS });
  };
  const recall = (credential: string): Principal | undefined => {
    const entry = cache.get(credential);
    if (entry && entry.until > clock.monotonicMs() && revocations.heard()) return used(entry.principal);
    const digest = Buffer.from(digestCredential(credential), 'hex');
    return timingSafeEqual(digest, adminDigest) ? { kind: 'admin' } : undefined;
  };
  const used = (principal: KeyPrincipal): KeyPrincipal => {
    uses.set(principal.keyId, clock.now());
    return principal;
  };

  return {
    authenticateFromCache: recall,
    async authenticate(credential) {
      const known = recall(credential);
      if (known || !looksLikeApiKey(credential)) return known;
      const digest = digestCredential(credential);
      // A revocation that is announced while the look-up runs must not be undone by what the look-up saw.
      const before = generation;
      const principal = await deps.findByDigest(digest);
      if (principal && before === generation) remember(credential, digest, principal);
      return principal && used(principal);
    },
    async close() {
      if (closed) return;
      closed = true;
      stopListening();
      await stopFlushing();
      await flush().catch(deps.onError);
    },
  };
}
