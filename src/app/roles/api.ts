import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { createApiAuthenticator } from '../../agents/accounts/apiAuthenticator.ts';
import { requireVendorQuotas } from '../../agents/accounts/dayQuotas.ts';
import { createHttpMetrics } from '../../api/metrics.ts';
import type { App, Dependency, HttpSettings } from '../../api/ports.ts';
import { createServer } from '../../api/server.ts';
import { packagePath } from '../../base/packagePath.ts';
import { RedisEventFeed } from '../../infra/redis/events/eventFeed.ts';
import { redisEventLog } from '../../infra/redis/events/eventLog.ts';
import { redisRateLimiter } from '../../infra/redis/limits/rateLimiter.ts';
import { redisSessionLock } from '../../infra/redis/locks/sessionLock.ts';
import { redisConsoleSessions } from '../../infra/redis/nodes/consoleSessions.ts';
import { redisNodeReports } from '../../infra/redis/nodes/leasedEntries.ts';
import { redisRevocations } from '../../infra/redis/nodes/revocations.ts';
import type { MediaStreams } from '../../streams/mediaStreams.ts';
import { SpeechPreview } from '../../voice/speechPreview.ts';
import { startMetricsServer } from '../node/metricsServer.ts';
import type { NodeContext } from '../node/node.ts';
import { databaseDependency, redisDependency } from '../node/stores.ts';
import { measureSurroundings } from '../node/surroundings.ts';
import { buildSpeechProviders, buildVoiceCatalog, knownProviders } from '../services/providers.ts';
import type { Services } from '../services/services.ts';
import { shownSettings } from '../settings/describe.ts';

/** The output folder of the console's build. */
const CONSOLE_FOLDER = packagePath(join('console', 'dist'));
const WIDGET_FOLDER = packagePath(join('dist', 'widget'));

/**
 * The HTTP server of a node: operations routes on all nodes, audio WebSockets with the role `voice`, and the public API
 * with the role `api`.
 */
export async function buildApi(
  node: NodeContext,
  services: Services,
  mediaStreams: MediaStreams,
  dependencies: readonly Dependency[],
): Promise<App> {
  const { storage, redis, adminToken, clock, lifecycle, metrics, onError } = node;
  const { conversations, mcpServers, tools, knowledge, calls, customers, recordings, webhooks, tests } =
    services;
  const { mediaFiles } = services;
  const revocations = redisRevocations(redis, node.connectSubscriber());
  const authenticator = createApiAuthenticator({
    findByDigest: storage.stores.apiKeys.findByDigest,
    findWidgetToken: storage.stores.widgetTokens.findByDigest,
    markUsed: storage.stores.apiKeys.markUsed,
    revocations,
    adminToken,
    clock,
    onError: (error) => onError(error, 'last use of API keys not stored'),
  });
  lifecycle.onClose(() => authenticator.close());
  const allDependencies = [databaseDependency(node.database), redisDependency(redis), ...dependencies];
  metrics.watchSurroundings(measureSurroundings(node.config, allDependencies, node.database, clock));
  const httpMetrics = createHttpMetrics(metrics);
  const { HOST, METRICS_PORT } = node.config;
  if (METRICS_PORT !== undefined) {
    lifecycle.closing(await startMetricsServer({ HOST, METRICS_PORT }, httpMetrics));
  }
  const app = await createServer({
    storage,
    clock,
    makeId: node.makeId,
    settings: httpSettings(node, services),
    access: {
      authenticator,
      revocations,
      consoleSessions: redisConsoleSessions(redis, node.sealer),
      rateLimiter: redisRateLimiter(redis, clock),
      requestLock: redisSessionLock(redis, clock),
      sessionCounter: node.sessionCounter,
      sealer: node.sealer,
    },
    agents: {
      schemas: node.sandbox,
      patterns: node.sandbox,
      pathways: node.sandbox,
      tools,
      mcpServers,
      targetPolicy: node.targetPolicy,
      voices: buildVoiceCatalog(node),
      speechPreview: new SpeechPreview({
        ...node,
        // A key that was just saved is heard at once.
        providers: buildSpeechProviders(node, node.logger, storage.stores.providerCredentials.all),
        requireCharacters: (projectId) =>
          requireVendorQuotas(node.dayQuotas, projectId, ['charactersPerDay']),
      }),
      tests,
    },
    sessions: {
      conversations,
      customers,
      analyses: services.analyses,
      liveEvents: node.liveEvents,
      eventFeed: new RedisEventFeed({
        log: redisEventLog(redis),
        subscriber: node.connectSubscriber(),
        onError,
      }),
    },
    calls: { ...calls.service, ...services.campaigns },
    audio: { mediaStreams, mediaFiles, recordings },
    knowledge,
    webhookAdmin: webhooks.webhookAdmin,
    operations: {
      dependencies: allDependencies,
      nodeReports: redisNodeReports(redis),
      metrics: httpMetrics,
      logger: node.logger,
      tracing: node.tracer,
      shares: node.shares,
    },
  });
  lifecycle.onClose(() => app.close());
  return app;
}

function httpSettings(
  { config, publicUrl, state, isDraining, overload, providerHealth }: NodeContext,
  { models }: Services,
): HttpSettings {
  return {
    serves: servedRoutes(config.ROLES),
    modelNames: [...new Set([models.smart, models.balance, models.turbo])],
    allowedModels: config.CHAT_MODELS_ALLOWED,
    knownProviders: knownProviders(config),
    publicUrl,
    hasConsole: config.CONSOLE,
    consoleFolder:
      config.CONSOLE && existsSync(join(CONSOLE_FOLDER, 'index.html')) ? CONSOLE_FOLDER : undefined,
    widgetFolder: existsSync(join(WIDGET_FOLDER, 'widget.js')) ? WIDGET_FOLDER : undefined,
    trustProxy: config.TRUST_PROXY,
    corsOrigins: config.CORS_ORIGINS,
    legacySunset: config.LEGACY_SUNSET,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    projectRateLimitPerMinute: config.RATE_LIMIT_PROJECT_PER_MINUTE,
    failedAuthPerMinute: config.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
    maxUploadBytes: config.MAX_UPLOAD_BYTES,
    maxImportBytes: config.MAX_IMPORT_BYTES,
    allowsPrivateTrunks: config.ALLOW_PRIVATE_TRUNKS,
    numberOwnership: config.NUMBER_OWNERSHIP,
    shown: shownSettings(config),
    showsMetrics: config.METRICS_PORT === undefined,
    isDraining,
    draining: state.draining.signal,
    overloadedParts: () => overload.lateParts,
    providers: () => providerHealth.states(),
  };
}

/** A node with the API but without voice relays the audio WebSockets to a voice node; one with media, those of supervisors. */
function servedRoutes(roles: NodeContext['config']['ROLES']): HttpSettings['serves'] {
  if (roles.includes('api')) return ['api', 'audioStreams'];
  return roles.includes('voice') || roles.includes('media') ? ['audioStreams'] : [];
}
