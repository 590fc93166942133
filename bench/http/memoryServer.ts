import { createAuthenticator } from '../../src/accounts/authenticator.ts';
import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import type { AgentStore } from '../../src/agents/stores.ts';
import { systemClock } from '../../src/base/clock.ts';
import { uuidV7 } from '../../src/base/ids.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import type { HttpDeps, Stores } from '../../src/http/ports.ts';
import { createServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/logger.ts';
import { noConversations, noKnowledge, noWebhooks } from '../../test/support/noConversations.ts';
import { KEY, PROJECT_ID } from './route.ts';

/** More than a round has requests, so that the limit is counted and never reached. */
const RATE_LIMIT_PER_MINUTE = 100_000_000;

/** The product's server as the gateway builds it, over stores that answer from memory. @returns Its address. */
export async function startMemoryServer(logLevel: string): Promise<string> {
  const stores = inMemoryStores();
  const revocations = { heard: () => true, listen: () => () => undefined, announce: async () => undefined };
  const authenticator = createAuthenticator({
    findByDigest: stores.apiKeys.findByDigest,
    markUsed: async () => undefined,
    revocations,
    adminToken: 'of-nobody-in-this-measurement',
    clock: systemClock,
    onError: (error) => console.error(error),
  });
  const app = await createServer({
    storage: { stores, transaction: (work) => work(stores) },
    authenticator,
    revocations,
    rateLimiter: inMemoryRateLimiter(),
    dependencies: [{ name: 'database', check: async () => undefined, isAway: () => false }],
    egressPolicy: { allowInsecureLoopback: false },
    clock: systemClock,
    makeId: uuidV7,
    logger: createLogger(logLevel),
    metrics: createMetrics(),
    conversations: noConversations,
    webhookAdmin: noWebhooks,
    knowledge: noKnowledge,
    settings: {
      modelNames: [],
      publicUrl: () => 'http://127.0.0.1',
      trustProxy: false,
      corsOrigins: [],
      legacySunset: new Date('2027-09-11'),
      rateLimitPerMinute: RATE_LIMIT_PER_MINUTE,
      failedAuthPerMinute: 300,
      maxUploadBytes: 1_000_000,
      isDraining: () => false,
    },
  });
  return await app.listen({ port: 0, host: '127.0.0.1' });
}

/** Counts as the one over Redis does between two words with it. */
function inMemoryRateLimiter(): HttpDeps['rateLimiter'] {
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

/** Only what the measured route and the key's look-up ask for. */
function inMemoryStores(): Stores {
  const record = { config: newAgentConfig('Clinic reception'), frozen: null };
  const agents: AgentStore = {
    find: async () => record,
    insert: async () => undefined,
    save: async () => undefined,
  };
  const apiKeys: Pick<Stores['apiKeys'], 'findByDigest'> = {
    findByDigest: async () => ({
      kind: 'secret',
      keyId: PROJECT_ID,
      hint: `sk_…${KEY.slice(-4)}`,
      projectId: PROJECT_ID,
      scopes: ['read', 'write', 'calls'],
    }),
  };
  return { agents, apiKeys, legacyUsage: { add: async () => undefined } } as unknown as Stores;
}
