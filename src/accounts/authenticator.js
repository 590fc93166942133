import { timingSafeEqual } from 'node:crypto';
import { digestCredential, looksLikeApiKey } from './apiKey.js';

/** Longest time that a found key is believed without asking again, as a second line behind the announcements. */
const CACHE_MILLISECONDS = 30_000;
/** Bounds the memory for keys to about 5 MB. */
const CACHE_ENTRIES = 10_000;
/** A key's `lastUsedAt` is as exact as this. */
const USE_FLUSH_MILLISECONDS = 5_000;
/** Tells who a credential belongs to, with a memory that a revocation on any node clears at once. */
export function createAuthenticator(deps) {
  const { clock, revocations } = deps;
  const adminDigest = Buffer.from(digestCredential(deps.adminToken), 'hex');
  // By the credential itself, which spares each request a digest. A Map compares texts only after their hashes, which
  // a secret of this process goes into: the time that it takes tells nothing of a key that is nearly right.
  const cache = new Map();
  let generation = 0;
  let uses = new Map();
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
    await deps.markUsed(times).catch(deps.onError);
  };
  let timer = clock.setTimer(tick, USE_FLUSH_MILLISECONDS);
  function tick() {
    void flush().then(() => {
      if (!closed) timer = clock.setTimer(tick, USE_FLUSH_MILLISECONDS);
    });
  }
  const remember = (credential, digest, principal) => {
    if (cache.size >= CACHE_ENTRIES) cache.delete(cache.keys().next().value ?? '');
    cache.set(credential, { digest, principal, until: clock.monotonicMs() + CACHE_MILLISECONDS });
  };
  const recall = (credential) => {
    const entry = cache.get(credential);
    if (entry && entry.until > clock.monotonicMs() && revocations.heard()) return used(entry.principal);
    const digest = Buffer.from(digestCredential(credential), 'hex');
    return timingSafeEqual(digest, adminDigest) ? { kind: 'admin' } : undefined;
  };
  const used = (principal) => {
    uses.set(principal.keyId, clock.now());
    return principal;
  };
  return {
    recall,
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
      timer.cancel();
      stopListening();
      await flush();
    },
  };
}
