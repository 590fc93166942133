import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';
import { digestCredential, looksLikeApiKey, looksLikeWidgetToken } from './apiKey.ts';
import type { KeyPrincipal, Principal, WidgetPrincipal } from './principal.ts';

/** Limits how long a key is trusted without a lookup, in case a revocation is missed. */
const CACHE_TTL_MS = 30_000;
/** About 5 MB. */
const CACHE_ENTRIES = 10_000;
/** The accuracy of a key's `lastUsedAt`. */
const FLUSH_INTERVAL_MS = 5_000;

/** Announces revoked keys to all nodes. */
export interface Revocations {
  /** False while announcements may be missed; cached keys are then not trusted. */
  isConnected(): boolean;
  /** @returns Stops listening. */
  listen(onRevoked: (digests: readonly string[]) => void, onDisconnected: () => void): () => void;
  /** Resolves once every connected node has forgotten these keys. */
  announce(digests: readonly string[]): Promise<void>;
}

export interface ApiAuthenticatorDeps {
  readonly findByDigest: (digest: string) => Promise<KeyPrincipal | undefined>;
  readonly findWidgetToken: (digest: string) => Promise<WidgetPrincipal | undefined>;
  readonly markUsed: (uses: ReadonlyMap<string, Date>) => Promise<void>;
  readonly revocations: Revocations;
  readonly adminToken: string;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export interface ApiAuthenticator {
  /** The holder of the credential; undefined when it is not valid. */
  authenticate(credential: string): Promise<Principal | undefined>;
  /** Authenticates as `authenticate` does, but without a lookup: knows the admin token and recently used keys. */
  authenticateFromCache(credential: string): Principal | undefined;
  /** Whether this key was valid on this node before and has not been revoked since; a lookup tells whether it still is. */
  isKnown(credential: string): boolean;
  /** Stores the last uses of keys, and stops. Idempotent. */
  close(): Promise<void>;
}

interface CachedKey {
  readonly digest: string;
  readonly principal: KeyPrincipal | WidgetPrincipal;
  expiresAtMs: number;
}

/** Authenticates API keys, tokens of widgets and the admin token. A revocation on any node clears the cached key at once. */
export function createApiAuthenticator(deps: ApiAuthenticatorDeps): ApiAuthenticator {
  const { clock, revocations } = deps;
  const adminDigest = Buffer.from(digestCredential(deps.adminToken), 'hex');
  /** The keys by credential, which saves each request a digest. */
  const cache = new LRUCache<string, CachedKey>({ max: CACHE_ENTRIES });
  /** Counts revocations, to detect one during a lookup. */
  let revision = 0;
  let uses = new Map<string, Date>();
  let isClosed = false;

  const stopListening = revocations.listen(
    (digests) => {
      revision += 1;
      const revoked = new Set(digests);
      for (const [credential, { digest }] of [...cache.entries()])
        if (revoked.has(digest)) cache.delete(credential);
    },
    () => {
      revision += 1;
      // In place: an entry that is set anew becomes the newest, and the iteration would never end.
      for (const entry of cache.values()) entry.expiresAtMs = 0;
    },
  );
  const flush = async () => {
    if (uses.size === 0) return;
    const batch = uses;
    uses = new Map();
    await deps.markUsed(batch);
  };
  const stopFlushing = repeat(clock, FLUSH_INTERVAL_MS, flush, deps.onError);

  const used = (principal: KeyPrincipal | WidgetPrincipal): Principal => {
    if (principal.kind !== 'widget') uses.set(principal.keyId, new Date(clock.now()));
    return principal;
  };
  const authenticateFromCache = (credential: string): Principal | undefined => {
    const entry = revocations.isConnected() ? cache.get(credential) : undefined;
    if (entry && entry.expiresAtMs > clock.monotonicMs()) return used(entry.principal);
    const digest = Buffer.from(digestCredential(credential), 'hex');
    return timingSafeEqual(digest, adminDigest) ? { kind: 'admin' } : undefined;
  };
  return {
    authenticateFromCache,
    isKnown: (credential) => cache.has(credential),
    async authenticate(credential) {
      const cached = authenticateFromCache(credential);
      if (cached || !looksLikeApiKey(credential)) return cached;
      const digest = digestCredential(credential);
      const before = revision;
      const find = looksLikeWidgetToken(credential) ? deps.findWidgetToken : deps.findByDigest;
      const principal = await find(digest);
      if (!principal) {
        cache.delete(credential);
        return undefined;
      }
      if (before === revision) {
        cache.set(credential, { digest, principal, expiresAtMs: clock.monotonicMs() + CACHE_TTL_MS });
      }
      return used(principal);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      stopListening();
      await stopFlushing();
      await flush().catch(deps.onError);
    },
  };
}
