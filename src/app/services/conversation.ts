import { join } from 'node:path';
import type { Logger } from 'pino';
import { countSession, type DayQuotaDeps } from '../../agents/accounts/dayQuotas.ts';
import type { UsageMeter } from '../../agents/accounts/usage.ts';
import { releaseFor } from '../../agents/agents.ts';
import { McpServers } from '../../agents/mcp/mcpServers.ts';
import type { McpTools } from '../../agents/mcp/mcpTools.ts';
import { createTemplateCache } from '../../agents/pathway/templates.ts';
import type { SchemaChecker } from '../../agents/schemaChecker.ts';
import type { ComputeShares } from '../../base/async/computeShares.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { callFacts } from '../../calls/call.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import {
  type ConversationEngineDeps,
  createConversationEngine,
} from '../../engine/createConversationEngine.ts';
import { createBeforeStart } from '../../engine/session/beforeStart.ts';
import { cacheReleases } from '../../engine/session/releases.ts';
import { WriteBehind } from '../../engine/session/writeBehind.ts';
import type { ScheduleCallback } from '../../engine/tools/callbacks.ts';
import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import { createToolRunner } from '../../engine/tools/toolRunner.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { GuardedHttpClient } from '../../http/client.ts';
import { createTurnSpool } from '../../infra/files/turnSpool.ts';
import type { McpClientDeps } from '../../infra/mcp/mcpClient.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { redisSessionLock } from '../../infra/redis/locks/sessionLock.ts';
import { mockedBeforeStart, withMocksOfTests } from '../../testing/play/mockedTools.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { ThreadContext } from '../node/threadContext.ts';
import type { Config } from '../settings/config.ts';
import { buildCallbacks } from './callbacks.ts';

/** The folder in the data folder. */
export const TURN_SPOOL_FOLDER = 'waiting-turns';

interface ConversationParts {
  readonly config: Config;
  readonly storage: ReturnType<typeof createStorage>;
  readonly redis: RedisConnection;
  readonly models: ModelChoice;
  readonly client: GuardedHttpClient;
  readonly sandbox: SchemaChecker;
  readonly shares: ComputeShares;
  readonly mcpServers: McpServers;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
  readonly knowledge: KnowledgeRetriever;
  readonly scheduleCallback: ScheduleCallback;
  readonly usage: UsageMeter;
  readonly dayQuotas: DayQuotaDeps;
  readonly tracer: Tracer;
  readonly liveEvents: LiveEvents;
  readonly onEnded: () => void;
  /** Stores the turns that a process or thread before this one has left in the spool. */
  readonly recoversTurns: boolean;
  readonly lifecycle: Lifecycle;
}

/** The engine that chat and calls run on, with the MCP servers that its tools are on. */
export function buildConversations(
  context: ThreadContext,
  parts: Pick<ConversationParts, 'models' | 'knowledge' | 'onEnded' | 'recoversTurns'>,
): { readonly mcpServers: McpServers; readonly conversations: ConversationEngine } {
  const mcpServers = new McpServers({ ...context, tools: mcpTools(context), schemas: context.sandbox });
  context.lifecycle.onClose(() => mcpServers.close());
  const scheduleCallback = buildCallbacks(context, () => conversations);
  const conversations = buildConversationEngine({ ...context, ...parts, mcpServers, scheduleCallback });
  return { mcpServers, conversations };
}

/** The SDK is loaded when a project first uses an MCP server: it would be a tenth of the start of each thread. */
function mcpTools(deps: McpClientDeps): McpTools {
  let loading: Promise<McpTools> | undefined;
  const load = () => {
    loading ??= import('../../infra/mcp/mcpClient.ts').then(({ createMcpTools }) => createMcpTools(deps));
    return loading;
  };
  return {
    list: async (...args) => (await load()).list(...args),
    call: async (...args) => (await load()).call(...args),
  };
}

function buildConversationEngine(parts: ConversationParts): ConversationEngine {
  const { config, storage, clock, logger } = parts;
  const { stores } = storage;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const attachedSessions = new WriteBehind({
    sessions: stores.sessions,
    spool: createTurnSpool(join(config.DATA_DIR, TURN_SPOOL_FOLDER)),
    clock,
    onError,
  });
  parts.lifecycle.onClose(() => attachedSessions.close());
  if (parts.recoversTurns)
    attachedSessions.start().catch((error: unknown) => onError(error, 'spooled turns not read'));
  return createConversationEngine({
    ...engineDeps(parts),
    sessions: stores.sessions,
    attachedSessions,
    lock: redisSessionLock(parts.redis, clock),
    onError,
  });
}

function engineDeps({
  config,
  storage: { stores },
  models,
  client,
  sandbox,
  shares,
  clock,
  makeId,
  tracer,
  logger,
  ...parts
}: ConversationParts): Omit<ConversationEngineDeps, 'sessions' | 'attachedSessions' | 'lock' | 'onError'> {
  const templates = createTemplateCache();
  return {
    releases: cacheReleases(stores.releases),
    releaseFor: (projectId, draft) => releaseFor(stores, projectId, draft),
    turn: {
      models,
      tools: withMocksOfTests({
        real: createToolRunner({
          client,
          mcpServers: parts.mcpServers,
          templates,
          schemas: sandbox,
          shares,
          clock,
          tracing: tracer,
        }),
        clock,
        shares,
      }),
      templates,
      shares,
      knowledge: parts.knowledge,
      scheduleCallback: parts.scheduleCallback,
      clock,
      onToolFailed: ({ projectId, sessionId }, failure) =>
        logger.warn({ projectId, sessionId, ...failure }, 'tool failed'),
      onTemplateProblem({ projectId, sessionId }, problem) {
        const fields = { projectId, sessionId };
        if (problem.kind === 'failed') logger.warn({ ...fields, reason: problem.reason }, 'template failed');
        else logger.info({ ...fields, variable: problem.variable }, 'template variable not set');
      },
    },
    beforeStart: createBeforeStart({
      clientOf: ({ standIns }) => (standIns ? mockedBeforeStart(standIns, client, clock) : client),
      memory: stores.memory,
      tracing: tracer,
      clock,
    }),
    tracing: tracer,
    liveEvents: parts.liveEvents,
    clock,
    makeId,
    finalizeTimeoutSeconds: config.FINALIZE_TIMEOUT_SECONDS,
    async callOf(projectId, callId) {
      const call = await stores.calls.find(projectId, callId);
      if (!call) return undefined;
      return { answered: call.answeredAt !== null, record: call.settings.record, facts: callFacts(call) };
    },
    usage: {
      admit: (projectId) => countSession(parts.dayQuotas, projectId),
      add: (projectId, used) => parts.usage.add(projectId, used),
    },
    onEnded: parts.onEnded,
  };
}
