import { createApiAuthenticator } from '../../src/agents/accounts/apiAuthenticator.ts';
import { createHttpMetrics } from '../../src/api/metrics.ts';
import type { HttpDeps, Storage } from '../../src/api/ports.ts';
import { createServer } from '../../src/api/server.ts';
import { ComputeShares } from '../../src/base/async/computeShares.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { memoryEvents } from '../../test/support/memoryEvents.ts';
import {
  unusedCalls,
  unusedConsoleSessions,
  unusedCustomers,
  unusedEngine,
  unusedKnowledge,
  unusedMcpServers,
  unusedMediaFiles,
  unusedNodeReports,
  unusedPathways,
  unusedPatterns,
  unusedRequestLock,
  unusedSchemas,
  unusedSpeechPreview,
  unusedTests,
  unusedTools,
  unusedWebhooks,
} from '../../test/support/unusedPorts.ts';

/** More than a round's requests, so that the limit is counted and never reached. */
const RATE_LIMIT_PER_MINUTE = 100_000_000;

/** The product's server as the gateway builds it. @returns Its address. */
export async function startProductServer(logLevel: string, storage: Storage): Promise<string> {
  const revocations = {
    isConnected: () => true,
    listen: () => () => undefined,
    announce: async () => undefined,
  };
  const authenticator = createApiAuthenticator({
    findByDigest: storage.stores.apiKeys.findByDigest,
    findWidgetToken: storage.stores.widgetTokens.findByDigest,
    markUsed: storage.stores.apiKeys.markUsed,
    revocations,
    adminToken: 'admin-token-of-the-benchmarks',
    clock: systemClock,
    onError: (error) => console.error(error),
  });
  const events = memoryEvents();
  const app = await createServer({
    storage,
    sealer: { seal: (secret) => secret },
    authenticator,
    revocations,
    consoleSessions: unusedConsoleSessions,
    nodeReports: unusedNodeReports,
    sessionCounter: { read: async () => 0 },
    rateLimiter: inMemoryRateLimiter(),
    requestLock: unusedRequestLock,
    dependencies: [{ name: 'database', check: async () => undefined, isDown: () => false }],
    targetPolicy: { allowInsecureLoopback: false },
    schemas: unusedSchemas,
    pathways: unusedPathways,
    shares: new ComputeShares({ clock: systemClock }),
    mcpServers: unusedMcpServers,
    tools: unusedTools,
    clock: systemClock,
    makeId: uuidV7,
    logger: createLogger(logLevel),
    metrics: createHttpMetrics(),
    liveEvents: events,
    eventFeed: events,
    conversations: unusedEngine,
    webhookAdmin: unusedWebhooks,
    voices: { has: async () => undefined },
    speechPreview: unusedSpeechPreview,
    mediaFiles: unusedMediaFiles,
    knowledge: unusedKnowledge,
    calls: unusedCalls,
    customers: unusedCustomers,
    tests: unusedTests,
    patterns: unusedPatterns,
    settings: {
      serves: ['api', 'audioStreams'],
      modelNames: [],
      knownProviders: { configured: new Set(), recognition: 'local', synthesis: 'local', chat: 'local' },
      publicUrl: () => 'http://127.0.0.1',
      trustProxy: false,
      corsOrigins: [],
      legacySunset: new Date('2027-09-11'),
      projectRateLimitPerMinute: RATE_LIMIT_PER_MINUTE,
      rateLimitPerMinute: RATE_LIMIT_PER_MINUTE,
      failedAuthPerMinute: 300,
      shown: {},
      maxUploadBytes: 1_000_000,
      isDraining: () => false,
      overloadedParts: () => [],
      providers: () => ({}),
    },
  });
  return await app.listen({ port: 0, host: '127.0.0.1' });
}

/** Counts like the Redis rate limiter between two round trips. */
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
