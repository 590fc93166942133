import type { Logger } from 'pino';

import type { SessionCounter } from '../../agents/accounts/quotas.ts';
import { UsageMeter } from '../../agents/accounts/usage.ts';
import type { App } from '../../api/ports.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { ComputeShares } from '../../base/computeShares.ts';
import { type MakeId, uuidV7 } from '../../base/ids.ts';
import { createSealer } from '../../base/sealer.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { TurnCheckpointStore } from '../../engine/session/interruptedTurn.ts';
import { createGuardedHttpClient, type GuardedHttpClient } from '../../infra/httpClient/client.ts';
import type { TargetPolicy } from '../../infra/httpClient/target.ts';
import type { Bucket } from '../../infra/objectStore/bucket.ts';
import type { Database } from '../../infra/postgres/connection/database.ts';
import { DatabaseClock } from '../../infra/postgres/databaseClock.ts';
import { requireSameSealer } from '../../infra/postgres/secrets/sealerFingerprint.ts';
import { createStorage } from '../../infra/postgres/storage.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { requireSentinelMaster } from '../../infra/redis/connection/sentinel.ts';
import { redisSessionCounter } from '../../infra/redis/limits/sessionCounter.ts';
import { redisTurnCheckpoints } from '../../infra/redis/nodes/turnCheckpoints.ts';
import type { JobQueues } from '../../infra/redis/queues/jobQueues.ts';
import { Sandbox } from '../../infra/sandbox/sandbox.ts';
import type { ThreadedMediaEngine } from '../../media/engine/mediaEngine.ts';
import type { SipServerAccess } from '../../telephony/control/sipServer.ts';
import { type Lifecycle, startTogether } from '../lifecycle.ts';
import { buildMedia } from '../media/media.ts';
import { openSipServer } from '../media/sipServer.ts';
import type { Config } from '../settings/config.ts';
import { addressOf } from '../voice/voiceNodes.ts';
import {
  lockDataFolder,
  openDataFolder,
  readNodeId,
  storedAdminToken,
  storedSecretsKey,
} from './dataFolder.ts';
import { type BuiltMetrics, buildMetrics } from './metrics.ts';
import { openObjectStore } from './objectStore.ts';
import { type Admission, buildAdmission } from './overload.ts';
import type { StartupPhase } from './startupServer.ts';
import { type DatabaseServer, openDatabase, openJobs, redisConnector, startRedis } from './stores.ts';
import { buildTracing } from './tracing.ts';

const USER_AGENT = 'callway';

/** What all roles of a node share: settings, stores, clients and clocks. */
export interface NodeContext extends Admission {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Identifies this run of the node, or of its data folder when no other node can have it. */
  readonly nodeId: string;
  readonly adminToken: string;
  readonly secretsKey: Uint8Array;
  /** Which addresses users may configure. */
  readonly targetPolicy: TargetPolicy;
  readonly client: GuardedHttpClient;
  readonly sandbox: Sandbox;
  readonly databaseServer: DatabaseServer;
  /** The projects' shares of the event loop. */
  readonly shares: ComputeShares;
  readonly database: Database;
  readonly storage: ReturnType<typeof createStorage>;
  readonly bucket: Bucket | undefined;
  readonly redis: RedisConnection;
  /** Opens a connection for subscriptions. */
  readonly connectSubscriber: () => RedisConnection;
  readonly jobs: JobQueues;
  readonly turnCheckpoints: TurnCheckpointStore;
  /** With the role `media`. */
  readonly media: ThreadedMediaEngine | undefined;
  readonly sipServer: SipServerAccess | undefined;
  readonly metrics: BuiltMetrics;
  readonly usage: UsageMeter;
  readonly sessionCounter: SessionCounter;
  readonly tracer: Tracer;
  readonly state: NodeState;
  readonly publicUrl: () => string;
  readonly isDraining: () => boolean;
  readonly onError: (error: unknown, what: string) => void;
}

interface NodeState {
  /** Defined once the server is built. */
  app?: App;
  isDraining: boolean;
}

/** Opens the stores and starts the processes and threads that the settings ask for. */
export async function openNode(
  config: Config,
  logger: Logger,
  lifecycle: Lifecycle,
  onPhase: (phase: StartupPhase) => void,
): Promise<NodeContext> {
  // An invalid setting must end the start before anything else is started.
  if (config.REDIS_URL) await requireSentinelMaster(config.REDIS_URL);
  await openDataFolder(config.DATA_DIR);
  if (!config.DATABASE_URL || !config.REDIS_URL) lifecycle.onClose(await lockDataFolder(config, logger));

  const adminToken = config.CALLWAY_ADMIN_TOKEN ?? (await storedAdminToken(config, logger));
  const secretsKey = config.SECRETS_KEY ?? (await storedSecretsKey(config));
  const sealer = createSealer(secretsKey, config.SECRETS_KEY_PREVIOUS);
  const targetPolicy = { allowInsecureLoopback: config.ALLOW_INSECURE_WEBHOOKS };
  const runsCalls = config.ROLES.includes('media');
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
    runsCalls ? buildMedia(config, logger, targetPolicy, lifecycle) : undefined,
    runsCalls ? openSipServer({ config, logger, clock }, lifecycle) : undefined,
  ]);
  await requireSameSealer(database, sealer);

  lifecycle.onClose(await clock.follow(database));
  const nodeId = await readNodeId(config);
  const connect = redisConnector(redisUrl, clock, logger, lifecycle);
  const redis = connect('commands');
  const tracer = await buildTracing(config, nodeId, logger, lifecycle);
  const client = createGuardedHttpClient({ policy: targetPolicy, clock, userAgent: USER_AGENT });
  const state: NodeState = { isDraining: false };
  const isDraining = () => state.isDraining;
  const jobs = openJobs(redisUrl, logger);
  const storage = createStorage(database, sealer);
  const usage = lifecycle.closing(new UsageMeter({ store: storage.stores.usage, clock, onError }));
  return {
    config,
    logger,
    lifecycle,
    clock,
    nodeId,
    adminToken,
    secretsKey,
    targetPolicy,
    databaseServer,
    database,
    redis,
    media,
    sipServer,
    tracer,
    state,
    makeId: uuidV7,
    client: lifecycle.closing(client),
    storage,
    sandbox: lifecycle.closing(new Sandbox({ clock })),
    shares: new ComputeShares({ clock }),
    bucket: await openObjectStore(config, lifecycle),
    connectSubscriber: () => connect('subscriptions'),
    jobs,
    ...buildAdmission({ config, media, jobs, clock, logger, lifecycle, isDraining }),
    turnCheckpoints: redisTurnCheckpoints(redis),
    metrics: buildMetrics(),
    usage,
    sessionCounter: redisSessionCounter(redis, clock, async (projectId) => {
      const { sessions = 0 } = await usage.today(projectId);
      return sessions;
    }),
    publicUrl: () => config.PUBLIC_URL ?? addressOf(state.app, config.HOST),
    isDraining,
    onError,
  };
}
