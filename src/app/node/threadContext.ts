import type { Logger } from 'pino';

import type { DayQuotaDeps, SessionCounter } from '../../agents/accounts/dayQuotas.ts';
import { UsageMeter } from '../../agents/accounts/usage.ts';
import { ComputeShares } from '../../base/async/computeShares.ts';
import type { Sealer } from '../../base/sealer.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type MakeId, uuidV7 } from '../../base/values/ids.ts';
import type { TurnCheckpointStore } from '../../engine/session/interruptedTurn.ts';
import type { LiveEvents, PublishedEvent } from '../../events/liveEvents.ts';
import { createGuardedHttpClient, type GuardedHttpClient } from '../../http/client.ts';
import type { TargetPolicy } from '../../http/target.ts';
import type { Database } from '../../infra/postgres/connection/database.ts';
import { createStorage } from '../../infra/postgres/storage.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { redisEventLog } from '../../infra/redis/events/eventLog.ts';
import { LiveEventPublisher } from '../../infra/redis/events/publisher.ts';
import { redisSessionCounter } from '../../infra/redis/limits/sessionCounter.ts';
import { redisTurnCheckpoints } from '../../infra/redis/nodes/turnCheckpoints.ts';
import { Sandbox } from '../../infra/sandbox/sandbox.ts';
import type { ProviderOptions } from '../../models/providerOptions.ts';
import { ProjectCredentialCache } from '../../models/selection/projectCredentialCache.ts';
import { EventForwarder } from '../../webhooks/eventForwarder.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Config } from '../settings/config.ts';
import type { ThreadMetrics } from '../voice/threadReports.ts';
import { buildTracing } from './tracing.ts';

const USER_AGENT = 'callway';

export interface ThreadStart {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  /** Identifies this run of the node, or of its data folder when no other node can have it. */
  readonly nodeId: string;
  readonly database: Database;
  readonly redis: RedisConnection;
  readonly sealer: Sealer;
  /** Counts turns, utterances and the answers of providers. */
  readonly sessionMetrics: ThreadMetrics;
  /** Reports what is not configured or installed. */
  readonly warn: ProviderOptions['warn'];
}

/** What conversations run on. The main thread has it, and each voice thread for itself. */
export interface ThreadContext extends ThreadStart {
  readonly makeId: MakeId;
  /** Decides which addresses users may configure. */
  readonly targetPolicy: TargetPolicy;
  readonly client: GuardedHttpClient;
  readonly sandbox: Sandbox;
  /** The projects' shares of the event loop. */
  readonly shares: ComputeShares;
  readonly storage: ReturnType<typeof createStorage>;
  /** The credentials of projects, for the vendors that their agents name. */
  readonly credentials: ProjectCredentialCache;
  readonly turnCheckpoints: TurnCheckpointStore;
  readonly usage: UsageMeter;
  readonly sessionCounter: SessionCounter;
  readonly dayQuotas: DayQuotaDeps;
  readonly tracer: Tracer;
  readonly liveEvents: LiveEvents;
  readonly onError: (error: unknown, what: string) => void;
}

export async function createThreadContext(start: ThreadStart): Promise<ThreadContext> {
  const { config, logger, lifecycle, clock, nodeId, database, redis, sealer } = start;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  // Before evaluations count for projects.
  const targetPolicy = targetPolicyOf(config);
  const tracer = await buildTracing(config, nodeId, logger, lifecycle);
  const storage = createStorage(database, sealer);
  const eventForwarder = lifecycle.closing(
    new EventForwarder({
      queue: storage.eventQueue,
      clock,
      makeId: uuidV7,
      onRefused: (refused) => logger.warn(refused, 'events not queued: too many wait for the receiver'),
      onError,
    }),
  );
  const log = redisEventLog(redis);
  const onPublished = (event: PublishedEvent) => eventForwarder.add(event);
  const usage = lifecycle.closing(new UsageMeter({ store: storage.stores.usage, clock, onError }));
  const dayQuotas: DayQuotaDeps = {
    quotasOf: async (projectId) => (await storage.stores.projects.find(projectId))?.quotas,
    sessions: redisSessionCounter(redis, clock, async (projectId) => {
      const { sessions = 0 } = await usage.today(projectId);
      return sessions;
    }),
    meter: usage,
    clock,
  };
  return {
    ...start,
    makeId: uuidV7,
    targetPolicy,
    client: lifecycle.closing(
      createGuardedHttpClient({ policy: targetPolicy, clock, userAgent: USER_AGENT }),
    ),
    sandbox: lifecycle.closing(new Sandbox({ clock })),
    shares: new ComputeShares({ clock }),
    storage,
    credentials: new ProjectCredentialCache(storage.stores.providerCredentials.all, clock, (error) =>
      onError(error, 'provider credentials of a project not read'),
    ),
    turnCheckpoints: redisTurnCheckpoints(redis),
    usage,
    sessionCounter: dayQuotas.sessions,
    dayQuotas,
    tracer,
    liveEvents: lifecycle.closing(new LiveEventPublisher({ log, clock, onPublished, onError })),
    onError,
  };
}

export function targetPolicyOf(config: Config): TargetPolicy {
  return { allowInsecureLoopback: config.ALLOW_INSECURE_WEBHOOKS };
}
