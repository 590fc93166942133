import { createApiAuthenticator } from '../../../src/agents/accounts/apiAuthenticator.ts';
import type { RateLimiter } from '../../../src/agents/accounts/rateLimiter.ts';
import { createHttpMetrics } from '../../../src/api/metrics.ts';
import type { App, HttpDeps, HttpSettings, Storage } from '../../../src/api/ports.ts';
import { createServer } from '../../../src/api/server.ts';
import { ComputeShares } from '../../../src/base/async/computeShares.ts';
import { createSealer } from '../../../src/base/sealer.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import { createStorage } from '../../../src/infra/postgres/storage.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrated, openServerDatabase } from '../../infra/postgres/support/databases.ts';
import { memoryEvents } from '../../support/memoryEvents.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
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
} from '../../support/unusedPorts.ts';

export const ADMIN_TOKEN = 'the-token-of-the-operator';

export interface TestApp {
  readonly app: App;
  readonly clock: SimulatedClock;
  readonly storage: Storage;
  close(): Promise<void>;
}

/** The HTTP API with a real database and a simulated clock. It does not listen yet. */
export async function createTestApp(
  settings: Partial<HttpSettings> = {},
  rateLimiter: RateLimiter = { take: () => ({ allowed: true }), isExhausted: () => ({ allowed: true }) },
  checks: Partial<Pick<HttpDeps, 'schemas' | 'patterns'>> = {},
): Promise<TestApp> {
  const opened = await migrated(openServerDatabase);
  const sealer = createSealer(Buffer.alloc(32));
  const storage = createStorage(opened.database, sealer);
  const clock = createSimulatedClock(Date.UTC(2026, 5, 1));
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
    adminToken: ADMIN_TOKEN,
    clock,
    onError: (error) => {
      throw error;
    },
  });
  const app = await createServer({
    storage,
    sealer,
    authenticator,
    revocations,
    consoleSessions: unusedConsoleSessions,
    nodeReports: unusedNodeReports,
    sessionCounter: { read: async () => 0 },
    rateLimiter,
    requestLock: unusedRequestLock,
    dependencies: [],
    targetPolicy: { allowInsecureLoopback: false },
    schemas: unusedSchemas,
    pathways: unusedPathways,
    shares: new ComputeShares({ clock }),
    mcpServers: unusedMcpServers,
    tools: unusedTools,
    clock,
    makeId: uuidV7,
    logger: createLogger('silent'),
    metrics: createHttpMetrics(),
    liveEvents: memoryEvents(),
    eventFeed: memoryEvents(),
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
    ...checks,
    settings: {
      serves: ['api', 'audioStreams'],
      modelNames: [],
      knownProviders: { configured: new Set(), recognition: 'local', synthesis: 'local', chat: 'local' },
      publicUrl: () => 'http://127.0.0.1',
      trustProxy: false,
      corsOrigins: [],
      legacySunset: new Date('2027-09-11T00:00:00.000Z'),
      projectRateLimitPerMinute: 0,
      rateLimitPerMinute: 0,
      failedAuthPerMinute: 0,
      shown: {},
      maxUploadBytes: 1_000_000,
      isDraining: () => false,
      overloadedParts: () => [],
      providers: () => ({}),
      ...settings,
    },
  });
  return {
    app,
    clock,
    storage,
    async close() {
      await app.close();
      await authenticator.close();
      await opened.close();
    },
  };
}
