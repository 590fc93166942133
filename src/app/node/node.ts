import type { Logger } from 'pino';

import type { App } from '../../api/ports.ts';
import { createSealer } from '../../base/sealer.ts';
import { systemClock } from '../../base/values/clock.ts';
import { advertisedAddress } from '../../calls/nodes/nodeAddress.ts';
import type { Bucket } from '../../infra/objectStore/bucket.ts';
import { DatabaseClock } from '../../infra/postgres/databaseClock.ts';
import { requireSameSealer } from '../../infra/postgres/secrets/sealerFingerprint.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { requireSentinelMaster } from '../../infra/redis/connection/sentinel.ts';
import { openWakeups, type Wakeups } from '../../infra/redis/wakeups.ts';
import type { ThreadedMediaEngine } from '../../media/engine/mediaEngine.ts';
import type { ProviderHealth } from '../../models/failover/providerHealth.ts';
import type { StreamGrant } from '../../streams/streamTickets.ts';
import type { SipServerAccess } from '../../telephony/control/sipServer.ts';
import type { VoiceThreads } from '../../voice/threads/voiceThreads.ts';
import { type Lifecycle, startTogether } from '../lifecycle.ts';
import { buildMedia } from '../media/media.ts';
import { openSipServer } from '../media/sipServer.ts';
import type { Config } from '../settings/config.ts';
import { addressOf } from '../voice/voiceNodes.ts';
import { type DatabaseServer, redisConnector } from './connections.ts';
import {
  lockDataFolder,
  openDataFolder,
  readNodeId,
  storedAdminToken,
  storedSecretsKey,
} from './dataFolder.ts';
import { requireFreePorts } from './freePorts.ts';
import { createProviderHealth } from './healthMonitoring.ts';
import { type BuiltMetrics, buildMetrics } from './metrics.ts';
import { openObjectStore } from './objectStore.ts';
import { type Admission, buildAdmission } from './overload.ts';
import type { StartupPhase } from './startupServer.ts';
import { openDatabase, startRedis } from './stores.ts';
import { createThreadContext, type ThreadContext, targetPolicyOf } from './threadContext.ts';

/** The context that all roles of a node share: settings, stores, clients and clocks. */
export interface NodeContext extends ThreadContext, Admission {
  readonly adminToken: string;
  readonly secretsKey: Uint8Array;
  readonly bucket: Bucket | undefined;
  /** Opens a connection for subscriptions. */
  readonly connectSubscriber: () => RedisConnection;
  readonly databaseServer: DatabaseServer;
  readonly redisUrl: string;
  readonly wakeups: Wakeups;
  /** The media engine; undefined without the role `media`. */
  readonly media: ThreadedMediaEngine | undefined;
  readonly sipServer: SipServerAccess | undefined;
  readonly metrics: BuiltMetrics;
  readonly providerHealth: ProviderHealth;
  readonly state: NodeState;
  readonly publicUrl: () => string;
  /** The URL of the HTTP server, as other nodes reach it. */
  readonly nodeUrl: () => string;
  readonly isDraining: () => boolean;
}

interface NodeState {
  /** Defined once the server is built. */
  app?: App;
  /** The voice threads; undefined without the role `voice`. */
  voiceThreads?: VoiceThreads<StreamGrant> | undefined;
  /** Aborted at the start of a shutdown. */
  readonly draining: AbortController;
}

/** Opens the stores and starts the processes and threads that the settings ask for. */
export async function openNode(
  config: Config,
  logger: Logger,
  lifecycle: Lifecycle,
  onPhase: (phase: StartupPhase) => void,
): Promise<NodeContext> {
  // An invalid setting must end the start before anything else is started.
  const runsCalls = config.ROLES.includes('media');
  if (runsCalls) await requireFreePorts(config);
  if (config.REDIS_URL) await requireSentinelMaster(config.REDIS_URL);
  await openDataFolder(config.DATA_DIR);
  if (!config.DATABASE_URL || !config.REDIS_URL) lifecycle.onClose(await lockDataFolder(config, logger));

  const adminToken = config.CALLWAY_ADMIN_TOKEN ?? (await storedAdminToken(config, logger));
  const secretsKey = config.SECRETS_KEY ?? (await storedSecretsKey(config));
  const sealer = createSealer(secretsKey, config.SECRETS_KEY_PREVIOUS);
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const clock = new DatabaseClock({
    system: systemClock,
    onOffset: (offsetMs) =>
      logger.warn({ offsetMs }, 'the system clock differs from the database’s, which is used'),
    onError,
  });
  const [{ server: databaseServer, database }, redisUrl, media, sipServer] = await startTogether([
    openDatabase(config, logger, lifecycle, onPhase),
    config.REDIS_URL ?? startRedis(config, logger, lifecycle),
    runsCalls ? buildMedia(config, logger, targetPolicyOf(config), lifecycle) : undefined,
    runsCalls ? openSipServer({ config, logger, clock }, lifecycle) : undefined,
  ]);
  await requireSameSealer(database, sealer);

  lifecycle.onClose(await clock.follow(database));
  const nodeId = await readNodeId(config);
  const connect = redisConnector(redisUrl, clock, logger, lifecycle);
  const providerHealth = createProviderHealth(config, logger, clock);
  const metrics = buildMetrics(providerHealth);
  const context = await createThreadContext({
    config,
    logger,
    lifecycle,
    clock,
    nodeId,
    database,
    redis: connect('commands'),
    sealer,
    sessionMetrics: metrics.sessions,
    warn: (message, fields) => logger.warn(fields, message),
  });
  const state: NodeState = { draining: new AbortController() };
  const isDraining = () => state.draining.signal.aborted;
  const voiceThreads = () => state.voiceThreads;
  return {
    ...context,
    adminToken,
    secretsKey,
    media,
    sipServer,
    state,
    bucket: await openObjectStore(config, lifecycle),
    connectSubscriber: () => connect('subscriptions'),
    databaseServer,
    redisUrl,
    wakeups: openWakeups({
      url: redisUrl,
      onError: (err, queue) => logger.child({ part: 'redis' }).warn({ queue, err }, 'work not announced'),
    }),
    ...buildAdmission(context, { media, voiceThreads, isDraining }),
    metrics,
    providerHealth,
    publicUrl: () => config.PUBLIC_URL ?? addressOf(state.app, config.HOST),
    nodeUrl: () => config.NODE_URL ?? addressOf(state.app, advertisedAddress(config.HOST)),
    isDraining,
  };
}
