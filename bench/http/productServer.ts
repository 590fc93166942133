import { createApiAuthenticator } from '../../src/agents/accounts/apiAuthenticator.ts';
import type { HttpDeps, Storage } from '../../src/api/ports.ts';
import { createServer } from '../../src/api/server.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { httpDeps, noRevocations } from '../../test/support/httpDeps.ts';

/** More than a round's requests, so that the limit is counted and never reached. */
const RATE_LIMIT_PER_MINUTE = 100_000_000;

/** The product's server as the gateway builds it. @returns Its address. */
export async function startProductServer(logLevel: string, storage: Storage): Promise<string> {
  const authenticator = createApiAuthenticator({
    findByDigest: storage.stores.apiKeys.findByDigest,
    findWidgetToken: storage.stores.widgetTokens.findByDigest,
    markUsed: storage.stores.apiKeys.markUsed,
    revocations: noRevocations,
    adminToken: 'admin-token-of-the-benchmarks',
    clock: systemClock,
    onError: (error) => console.error(error),
  });
  const deps = httpDeps(
    {
      storage,
      authenticator,
      rateLimiter: inMemoryRateLimiter(),
      dependencies: [{ name: 'database', check: async () => undefined, isDown: () => false }],
      clock: systemClock,
      logger: createLogger(logLevel),
    },
    {
      projectRateLimitPerMinute: RATE_LIMIT_PER_MINUTE,
      rateLimitPerMinute: RATE_LIMIT_PER_MINUTE,
      failedAuthPerMinute: 300,
    },
  );
  const app = await createServer(deps);
  return await app.listen({ port: 0, host: '127.0.0.1' });
}

/** Counts like the Redis rate limiter between two round trips. */
function inMemoryRateLimiter(): HttpDeps['access']['rateLimiter'] {
  const left = new Map<string, number>();
  return {
    take(key, limit) {
      const remaining = left.get(key) ?? limit;
      left.set(key, remaining - 1);
      return remaining > 0 ? { allowed: true } : { allowed: false, retryAfterSeconds: 1 };
    },
    isExhausted: () => ({ allowed: true }),
  };
}
