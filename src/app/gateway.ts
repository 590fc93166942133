import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';

import { createApiAuthenticator } from '../agents/accounts/apiAuthenticator.ts';
import { createHttpMetrics } from '../api/metrics.ts';
import { drainConnections } from '../api/plugins/drainConnections.ts';
import type { App } from '../api/ports.ts';
import { createServer } from '../api/server.ts';
import { systemClock } from '../base/clock.ts';
import type { HealthMonitorOptions } from '../base/healthMonitor.ts';
import { uuidV7 } from '../base/ids.ts';
import { createSealer } from '../base/sealer.ts';
import { createNodeCapacity } from '../calls/limits/nodeCapacity.ts';
import type { VoiceNodeRegistration } from '../calls/nodes/voiceNodeRegistry.ts';
import { startSessionSweeps } from '../engine/session/sessionSweeps.ts';
import { createGuardedHttpClient } from '../infra/httpClient/client.ts';
import { startHousekeeping } from '../infra/postgres/housekeeping.ts';
import { requireSameSealer } from '../infra/postgres/secrets/sealerFingerprint.ts';
import { startSessionIndexing } from '../infra/postgres/sessions/sessionIndexing.ts';
import { createStorage } from '../infra/postgres/storage.ts';
import { connectRedis } from '../infra/redis/connection/connection.ts';
import { requireSentinelMaster } from '../infra/redis/connection/sentinel.ts';
import { redisRateLimiter } from '../infra/redis/limits/rateLimiter.ts';
import { redisRevocations } from '../infra/redis/nodes/revocations.ts';
import { redisTurnNotes } from '../infra/redis/nodes/turnNotes.ts';
import { redisVoiceNodes } from '../infra/redis/nodes/voiceNodes.ts';
import { openJobQueues } from '../infra/redis/queues/jobQueues.ts';
import { buildCalls } from './calls.ts';
import { buildConversationEngine } from './conversation.ts';
import { logHealthChanges } from './healthMonitoring.ts';
import { buildKnowledge } from './knowledge.ts';
import { buildMedia, callCapacity, PORTS_PER_CALL, portsOf } from './media.ts';
import { buildMetrics } from './metrics.ts';
import { keptAdminToken, keptKey, lockDataFolder, nodeIdOf } from './nodeFolder.ts';
import { openObjectStore } from './objectStore.ts';
import { buildPhone } from './phone.ts';
import { buildChat } from './providers.ts';
import { buildRecordings } from './recordings.ts';
import type { Config } from './settings/config.ts';
import { openSipServer } from './sipServer.ts';
import { openDatabase, startRedis } from './stores.ts';
import { buildStreams } from './streams.ts';
import { buildTelephony } from './telephony.ts';
import { buildTracing } from './tracing.ts';
import { addressOf, buildVoiceNodeSelector, registerOwnVoiceNode, voiceDependency } from './voiceNodes.ts';
import { buildWebhooks } from './webhooks.ts';

const USER_AGENT = 'callway';

export interface Gateway {
  /** Where the API listens. */
  readonly url: string;
  /**
   * Tells clients that keep connections open to go elsewhere, by their next answer, and takes what they still send;
   * says on `/readyz` that it goes. What comes before {@link Gateway.stop} where others are to lose nothing. Idempotent.
   */
  retire(): Promise<void>;
  /** Stops taking requests, lets running ones end within the drain time, and closes everything. Idempotent. */
  stop(): Promise<void>;
}

/** Builds every object once, starts them in order, and stops them in reverse. */
export async function startGateway(config: Config, logger: Logger): Promise<Gateway> {
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) {
      await close().catch((error: unknown) => logger.error({ err: error }, 'closing failed'));
    }
  };
  try {
    return await build(config, logger, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function build(
  config: Config,
  logger: Logger,
  closers: (() => Promise<void>)[],
  closeAll: () => Promise<void>,
): Promise<Gateway> {
  const clock = systemClock;
  // A wrong setting ends the start before anything is made.
  if (config.REDIS_URL) await requireSentinelMaster(config.REDIS_URL);
  await mkdir(config.DATA_DIR, { recursive: true, mode: 0o700 });
  if (!config.DATABASE_URL || !config.REDIS_URL) closers.push(await lockDataFolder(config, logger));

  const adminToken = config.CALLWAY_ADMIN_TOKEN ?? (await keptAdminToken(config, logger));
  const secretsKey = config.SECRETS_KEY ?? (await keptKey(config));
  const sealer = createSealer(secretsKey, config.SECRETS_KEY_PREVIOUS);
  const egressPolicy = { allowInsecureLoopback: config.ALLOW_INSECURE_WEBHOOKS };
  const carriesCalls = config.ROLES.includes('media');
  // What takes its time, each in a process or thread of its own.
  const [database, redisUrl, media, sipServer] = await whenAllAreDone([
    openDatabase(config, logger, closers),
    config.REDIS_URL ?? startRedis(config, logger, closers),
    carriesCalls ? buildMedia(config, logger, egressPolicy, closers) : undefined,
    carriesCalls ? openSipServer({ config, logger }, closers) : undefined,
  ]);
  await requireSameSealer(database, sealer);
  const storage = createStorage(database, sealer);

  const redisLogger = logger.child({ part: 'redis' });
  const connect = (health?: HealthMonitorOptions) => {
    const connection = connectRedis({
      url: redisUrl,
      ...(health && { health }),
      onError: (error) => redisLogger.warn({ reason: error.message }, 'connection trouble'),
    });
    closers.push(() => connection.close());
    return connection;
  };
  const redis = connect(logHealthChanges('redis', logger, clock));
  const revocations = redisRevocations(redis, connect());
  const authenticator = createApiAuthenticator({
    findByDigest: storage.stores.apiKeys.findByDigest,
    markUsed: storage.stores.apiKeys.markUsed,
    revocations,
    adminToken,
    clock,
    onError: (error) => logger.warn({ err: error }, 'keys’ last uses were not kept'),
  });
  closers.push(() => authenticator.close());
  closers.push(startHousekeeping(storage.stores, clock, logger));
  closers.push(startSessionIndexing(database, clock, logger));

  const nodeId = await nodeIdOf(config);
  const tracing = await buildTracing(config, nodeId, logger, closers);
  const client = createGuardedHttpClient({ policy: egressPolicy, clock, userAgent: USER_AGENT });
  closers.push(() => client.close());
  let draining = false;
  const listening: { app?: App; voice?: VoiceNodeRegistration } = {};
  const publicUrl = () => config.PUBLIC_URL ?? addressOf(listening.app, config.HOST);
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const bucket = await openObjectStore(config, closers);
  const recordings = buildRecordings({ config, bucket, secretsKey, publicUrl, clock, onError });
  const metrics = buildMetrics();
  const models = await buildChat({ config, clock, makeId: uuidV7, logger, meter: metrics.talks, closers });
  const { dispatcher, webhookAdmin } = buildWebhooks({
    storage,
    models,
    client,
    recordings: recordings.calls,
    meter: metrics.talks,
    tracing,
    clock,
    makeId: uuidV7,
    logger,
  });
  closers.push(() => dispatcher.close());
  const jobs = openJobQueues({
    url: redisUrl,
    onError: (error, queue) => redisLogger.warn({ queue, reason: error.message }, 'queue trouble'),
  });
  const knowledge = await buildKnowledge({
    config,
    storage,
    jobs,
    meter: metrics.talks,
    bucket,
    clock,
    makeId: uuidV7,
    logger,
    closers,
  });
  closers.push(() => jobs.close());
  const conversations = buildConversationEngine({
    config,
    storage,
    redis,
    models,
    client,
    clock,
    makeId: uuidV7,
    logger,
    knowledge: knowledge.search,
    tracing,
    onEnded: dispatcher.wake,
    closers,
  });
  closers.push(
    startSessionSweeps({
      sessions: storage.stores.sessions,
      history: storage.stores.history,
      deliveries: storage.stores.webhookDeliveries,
      releases: storage.stores.releases,
      endIdle: (found) => conversations.endIdle(found),
      clock,
      onError: (error, what) => logger.warn({ err: error }, what),
    }),
  );

  const turnNotes = redisTurnNotes(redis);
  const calls = buildCalls({
    storage,
    turnNotes,
    jobs,
    redis,
    subscriber: connect(),
    conversations,
    recordings: recordings.calls,
    metrics: metrics.calls,
    onFact: () => dispatcher.wake(),
    nodeId,
    isDraining: () => draining,
    tracer: tracing,
    clock,
    makeId: uuidV7,
    logger,
  });
  closers.push(() => calls.close());

  const voiceNodes = { config, registry: redisVoiceNodes(redis), nodeId, clock, onError };
  const { mediaStreams, live } = await buildStreams({
    config,
    redis,
    turnNotes,
    conversations,
    storage,
    isDraining: () => draining,
    publicUrl,
    onChange: () => listening.voice?.update(),
    meter: metrics.talks,
    clock,
    makeId: uuidV7,
    logger,
    closers,
  });
  const admission = createNodeCapacity(callCapacity(config));
  metrics.watchNode({
    queues: jobs.depths,
    talks: () => live.count,
    ...(media && {
      calls: {
        admission,
        mediaSessions: () => media.sessions,
        ports: { used: () => media.sessions * PORTS_PER_CALL, limit: portsOf(config) },
      },
    }),
  });
  if (media) metrics.watchMedia(media);
  if (sipServer) metrics.watchSip(sipServer);
  const telephony =
    media &&
    sipServer &&
    (await buildTelephony({
      config,
      server: sipServer,
      media,
      trunks: storage.stores.trunks,
      numbers: storage.stores.phoneNumbers,
      traceSink: storage.stores.sipTraces,
      leases: calls.leases,
      board: metrics.trunks(calls.health, clock.monotonicMs),
      bus: calls.bus,
      clock,
      logger,
    }));
  if (telephony) closers.push(() => telephony.close());

  const app = await createServer({
    storage,
    authenticator,
    revocations,
    rateLimiter: redisRateLimiter(redis, clock),
    dependencies: [
      { name: 'database', check: async () => void (await database.query('SELECT 1')) },
      { name: 'redis', check: () => redis.ping(), isDown: () => !redis.isReady() },
      ...(telephony ? [{ name: 'sip', check: telephony.dependency.check }] : []),
      ...voiceDependency(voiceNodes),
    ],
    egressPolicy,
    conversations,
    webhookAdmin,
    knowledge,
    calls: calls.service,
    hangUp: (projectId, callId) => calls.control.hangUpAndWait(projectId, callId),
    mediaStreams,
    recordings,
    clock,
    makeId: uuidV7,
    logger,
    tracing,
    metrics: createHttpMetrics(metrics),
    settings: {
      serves: servedBy(config),
      modelNames: [...new Set([models.smart, models.balance, models.turbo])],
      publicUrl,
      trustProxy: config.TRUST_PROXY,
      corsOrigins: config.CORS_ORIGINS,
      legacySunset: config.LEGACY_SUNSET,
      rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
      failedAuthPerMinute: config.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
      maxUploadBytes: config.MAX_UPLOAD_BYTES,
      isDraining: () => draining,
    },
  });
  listening.app = app;
  closers.push(() => app.close());
  await redis.untilReady();
  dispatcher.start();
  if (config.ROLES.includes('worker')) calls.startSweeper();
  await app.listen({ port: config.PORT, host: config.HOST });
  const drainMs = config.DRAIN_SECONDS * 1000;
  const phone =
    telephony &&
    buildPhone({
      storage,
      calls,
      telephony: telephony.telephony,
      recordings: recordings.calls,
      conversations,
      mediaStreams,
      voiceNodes: buildVoiceNodeSelector(voiceNodes, app),
      capacity: admission,
      metrics: metrics.calls,
      tracer: tracing,
      isDraining: () => draining,
      drainMs,
      clock,
      makeId: uuidV7,
      logger,
    });
  closers.push(async () => {
    await listening.voice?.withdraw();
    // Together: calls that this node carries may be those that it talks with.
    await Promise.all([phone?.close(), live.drain(drainMs)]);
  });
  if (config.ROLES.includes('voice')) listening.voice = await registerOwnVoiceNode(voiceNodes, app, live);
  if (phone) await calls.registerNode();
  await phone?.start();

  let retiring: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  return {
    url: addressOf(app, config.HOST),
    retire() {
      draining = true;
      retiring ??= drainConnections(app.server, clock);
      return retiring;
    },
    stop() {
      draining = true;
      stopping ??= closeAll();
      return stopping;
    },
  };
}

/** As Promise.all, but a failure waits for the others, so that what they made is closed too. */
async function whenAllAreDone<const Values extends readonly unknown[]>(
  begun: Values,
): Promise<{ -readonly [Index in keyof Values]: Awaited<Values[Index]> }> {
  await Promise.allSettled(begun);
  return await Promise.all(begun);
}

function servedBy({ ROLES }: Config): ('api' | 'talks')[] {
  // A node of the API without a voice says so to whoever connects there.
  const talks = ROLES.includes('api') || ROLES.includes('voice');
  return [...(ROLES.includes('api') ? (['api'] as const) : []), ...(talks ? (['talks'] as const) : [])];
}
