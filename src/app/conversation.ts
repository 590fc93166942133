import { join } from 'node:path';
import type { Logger } from 'pino';
import { releaseFor } from '../agents/agents.ts';
import { createTemplateCache } from '../agents/pathway/templates.ts';
import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { Tracer } from '../base/tracing.ts';
import { customerNumber } from '../calls/call.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import { type ConversationEngineDeps, createConversationEngine } from '../engine/createConversationEngine.ts';
import type { ModelChoice } from '../engine/prompt/modelCalls.ts';
import { createBeforeStart } from '../engine/session/beforeStart.ts';
import { cacheReleases } from '../engine/session/releases.ts';
import { WriteBehind } from '../engine/session/writeBehind.ts';
import type { KnowledgeRetriever } from '../engine/tools/knowledge.ts';
import { createToolRunner } from '../engine/tools/toolRunner.ts';
import { createTurnSpool } from '../infra/files/turnSpool.ts';
import type { GuardedHttpClient } from '../infra/httpClient/client.ts';
import type { createStorage } from '../infra/postgres/storage.ts';
import type { RedisConnection } from '../infra/redis/connection/connection.ts';
import { redisSessionLock } from '../infra/redis/locks/sessionLock.ts';
import type { SessionMetrics } from '../observability/metrics/sessions.ts';
import { createRehearsalModel, REHEARSAL_MODEL } from '../providers/local/chat.ts';
import { meteredChat } from '../providers/metered.ts';
import { createOpenAiChatModel } from '../providers/openai/chat.ts';
import { createOpenAiEndpoint } from '../providers/openai/endpoint.ts';
import { createResilientModel } from '../providers/resilient.ts';
import type { Config } from './settings/config.ts';

/** Handed on by whoever builds something that lives: what ends it, in the order of building. */
export type Closers = (() => Promise<void>)[];

/** The chat model of the settings: an OpenAI-compatible endpoint, or the rehearsal model, which says that it is one. */
export function buildModels(
  config: Config,
  clock: Clock,
  makeId: MakeId,
  logger: Logger,
  closers: Closers,
  meter: Pick<SessionMetrics, 'watchModel'>,
): ModelChoice {
  if (config.CHAT_PROVIDER === 'local') {
    logger.warn(
      'no chat model is set: the rehearsal model answers by rules; set OPENAI_API_KEY or OPENAI_BASE_URL',
    );
    const chat = createRehearsalModel({ makeId });
    return { chat, smart: REHEARSAL_MODEL, balance: REHEARSAL_MODEL, turbo: REHEARSAL_MODEL };
  }
  const endpoint = createOpenAiEndpoint({ apiKey: config.OPENAI_API_KEY, baseUrl: config.OPENAI_BASE_URL });
  closers.push(() => endpoint.close());
  const chat = createResilientModel(createOpenAiChatModel({ endpoint, clock, makeId }), {
    clock,
    timeoutMs: config.MODEL_TIMEOUT_SECONDS * 1000,
    onRetry: (error) =>
      logger.warn({ err: error }, 'the model failed before its first word; asked once more'),
  });
  return {
    chat: meteredChat(chat, meter.watchModel('chat', chat.name)),
    smart: config.CHAT_MODEL_SMART,
    balance: config.CHAT_MODEL_BALANCE,
    turbo: config.CHAT_MODEL_TURBO,
  };
}

export interface ConversationParts {
  readonly config: Config;
  readonly storage: ReturnType<typeof createStorage>;
  readonly redis: RedisConnection;
  readonly models: ModelChoice;
  readonly client: GuardedHttpClient;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
  readonly knowledge: KnowledgeRetriever;
  readonly tracing: Tracer;
  readonly onEnded: () => void;
  readonly closers: Closers;
}

/** Builds the engine that chat and calls run on. */
export function buildConversationEngine(parts: ConversationParts): ConversationEngine {
  const { config, storage, clock, logger } = parts;
  const { stores } = storage;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const sessions = new WriteBehind({
    sessions: stores.sessions,
    spool: createTurnSpool(join(config.DATA_DIR, 'waiting-turns')),
    clock,
    onError,
  });
  parts.closers.push(() => sessions.close());
  if (config.ROLES.includes('voice'))
    sessions.start().catch((error: unknown) => onError(error, 'spooled turns not read'));
  return createConversationEngine({
    ...engineDeps(parts),
    sessions,
    lock: redisSessionLock(parts.redis, clock),
    onError,
  });
}

function engineDeps({
  config,
  storage: { stores },
  models,
  client,
  clock,
  makeId,
  tracing,
  logger,
  ...parts
}: ConversationParts): Omit<ConversationEngineDeps, 'sessions' | 'lock' | 'onError'> {
  const templates = createTemplateCache();
  return {
    releases: cacheReleases(stores.releases),
    releaseFor: (projectId, draft) => releaseFor(stores, projectId, draft),
    turn: {
      models,
      tools: createToolRunner({ client, templates, tracing }),
      templates,
      knowledge: parts.knowledge,
      clock,
      onMissingVariable: ({ projectId, instanceId }, variable) =>
        logger.info({ projectId, instanceId, variable }, 'template variable not set'),
    },
    beforeStart: createBeforeStart({
      client,
      memory: stores.memory,
      tracing,
      clock,
      async phoneNumberOf(projectId, callId) {
        const call = await stores.calls.find(projectId, callId);
        return call && customerNumber(call);
      },
    }),
    tracing,
    clock,
    makeId,
    finalizeTimeoutSeconds: config.FINALIZE_TIMEOUT_SECONDS,
    async callOf(projectId, callId) {
      const call = await stores.calls.find(projectId, callId);
      return call && { answered: call.answeredAt !== null, record: call.settings.record };
    },
    onEnded: parts.onEnded,
  };
}
