import { createHttpMetrics } from '../../src/api/metrics.ts';
import type { HttpDeps, HttpSettings } from '../../src/api/ports.ts';
import { ComputeShares } from '../../src/base/async/computeShares.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { memoryEvents } from './memoryEvents.ts';
import { unused } from './unused.ts';

const UNUSED = [
  ...(['consoleSessions', 'nodeReports', 'requestLock', 'schemas', 'patterns', 'pathways', 'tools'] as const),
  ...(['conversations', 'mcpServers', 'webhookAdmin', 'speechPreview', 'knowledge', 'calls'] as const),
  ...(['mediaFiles', 'tests', 'customers'] as const),
] as const;

export const LEGACY_SUNSET = new Date('2027-09-11T00:00:00.000Z');

export const noRevocations: HttpDeps['revocations'] = {
  isConnected: () => true,
  listen: () => () => undefined,
  announce: async () => undefined,
};

/** What the HTTP API needs: the given parts, without limits and events of others; other ports throw when used. */
export function httpDeps(
  given: Partial<HttpDeps> & Pick<HttpDeps, 'storage' | 'sealer' | 'authenticator' | 'clock'>,
  settings: Partial<HttpSettings> = {},
): HttpDeps {
  const events = memoryEvents();
  const others = Object.fromEntries(UNUSED.map((name) => [name, unused(name)]));
  return {
    ...(others as unknown as Pick<HttpDeps, (typeof UNUSED)[number]>),
    revocations: noRevocations,
    sessionCounter: { read: async () => 0 },
    rateLimiter: { take: () => ({ allowed: true }), isExhausted: () => ({ allowed: true }) },
    dependencies: [],
    targetPolicy: { allowInsecureLoopback: false },
    shares: new ComputeShares({ clock: given.clock }),
    makeId: uuidV7,
    logger: createLogger('silent'),
    metrics: createHttpMetrics(),
    liveEvents: events,
    eventFeed: events,
    voices: { has: async () => undefined },
    ...given,
    settings: {
      serves: ['api', 'audioStreams'],
      modelNames: [],
      knownProviders: { configured: new Set(), recognition: 'local', synthesis: 'local', chat: 'local' },
      publicUrl: () => 'http://127.0.0.1',
      trustProxy: false,
      corsOrigins: [],
      legacySunset: LEGACY_SUNSET,
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
  };
}
