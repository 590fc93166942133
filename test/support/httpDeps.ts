import type { SessionCounter } from '../../src/agents/accounts/dayQuotas.ts';
import { createHttpMetrics } from '../../src/api/metrics.ts';
import type { HttpDeps, HttpSettings } from '../../src/api/ports.ts';
import { ComputeShares } from '../../src/base/async/computeShares.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { memoryEvents } from './memoryEvents.ts';
import { unused } from './unused.ts';

/** The services of all groups, by their names in them. */
export type HttpServices = HttpDeps &
  HttpDeps['access'] &
  HttpDeps['agents'] &
  HttpDeps['sessions'] &
  HttpDeps['audio'] &
  HttpDeps['operations'];

export const LEGACY_SUNSET = new Date('2027-09-11T00:00:00.000Z');

export const noRevocations: HttpDeps['access']['revocations'] = {
  isConnected: () => true,
  listen: () => () => undefined,
  announce: async () => undefined,
};

/** What the HTTP API needs: the given services, without limits and events of others; other ports throw when used. */
export function httpDeps(
  given: Partial<HttpServices> & Pick<HttpServices, 'storage' | 'authenticator' | 'clock'>,
  settings: Partial<HttpSettings> = {},
): HttpDeps {
  const events = memoryEvents();
  const { storage, clock } = given;
  return {
    storage,
    clock,
    makeId: uuidV7,
    access: unused('access', {
      revocations: noRevocations,
      sessionCounter: unused<SessionCounter>('sessionCounter', { read: async () => 0 }),
      rateLimiter: { take: () => ({ allowed: true }), isExhausted: () => ({ allowed: true }) },
      ...given,
    }),
    agents: unused('agents', {
      targetPolicy: { allowInsecureLoopback: false },
      voices: { has: async () => undefined },
      ...given,
    }),
    sessions: unused('sessions', { liveEvents: events, eventFeed: events, ...given }),
    calls: given.calls ?? unused('calls'),
    audio: unused('audio', { mediaStreams: undefined, recordings: unused('recordings'), ...given }),
    knowledge: given.knowledge ?? unused('knowledge'),
    webhookAdmin: given.webhookAdmin ?? unused('webhookAdmin'),
    operations: {
      dependencies: [],
      nodeReports: unused('nodeReports'),
      metrics: createHttpMetrics(),
      logger: createLogger('silent'),
      shares: new ComputeShares({ clock }),
      ...given,
    },
    settings: {
      serves: ['api', 'audioStreams'],
      modelNames: [],
      knownProviders: { configured: new Set(), recognition: 'local', synthesis: 'local', chat: 'local' },
      publicUrl: () => 'http://127.0.0.1',
      maxImportBytes: 1_000_000,
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
