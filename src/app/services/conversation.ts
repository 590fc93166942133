import { join } from 'node:path';
import { countSession } from '../../agents/accounts/dayQuotas.ts';
import { offeredReleases } from '../../agents/agents.ts';
import { McpServers } from '../../agents/mcp/mcpServers.ts';
import type { McpTools } from '../../agents/mcp/mcpTools.ts';
import { createTemplateCache } from '../../agents/pathway/templates.ts';
import { callFacts } from '../../calls/call.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import { createConversationEngine } from '../../engine/createConversationEngine.ts';
import { PromptPrefixes } from '../../engine/prompt/prompts.ts';
import { TemplateReports } from '../../engine/prompt/templateReports.ts';
import { AttachedSessions } from '../../engine/session/attachedSessions.ts';
import { createBeforeStart } from '../../engine/session/beforeStart.ts';
import { cacheReleases } from '../../engine/session/releases.ts';
import { WriteBehind } from '../../engine/session/writeBehind.ts';
import type { AddOptOut } from '../../engine/tools/callbacks.ts';
import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import { createToolRunner, type ToolRunner } from '../../engine/tools/toolRunner.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import { createTurnSpool } from '../../infra/files/turnSpool.ts';
import type { McpClientDeps } from '../../infra/mcp/mcpClient.ts';
import { redisSessionLock } from '../../infra/redis/locks/sessionLock.ts';
import { mockedBeforeStart, withMocksOfTests } from '../../testing/play/mockedTools.ts';
import type { ThreadContext } from '../node/threadContext.ts';
import { buildCallbacks } from './callbacks.ts';

export const TURN_SPOOL_FOLDER = 'waiting-turns';

/** What the engine of a thread has besides the thread's context. */
export interface EngineOptions {
  readonly models: ModelChoice;
  readonly knowledge: KnowledgeRetriever;
  readonly onEnded: () => void;
  /** Stores the turns that a process or thread before this one has left in the spool. */
  readonly recoversTurns: boolean;
}

export interface BuiltConversations {
  readonly conversations: ConversationEngine;
  readonly mcpServers: McpServers;
  /** The project's own tools, outside of tests' mocks. */
  readonly tools: ToolRunner;
}

/** The engine that chat and calls run on, with the tools and the MCP servers of projects. */
export function buildConversations(
  context: ThreadContext,
  { models, knowledge, onEnded, recoversTurns }: EngineOptions,
): BuiltConversations {
  const { config, storage, redis, client, sandbox, shares, clock, makeId, tracer, logger, lifecycle } =
    context;
  const { usage, dayQuotas, liveEvents, onError } = context;
  const { stores } = storage;
  const mcpServers = new McpServers({ storage, tools: mcpTools(context), schemas: sandbox, clock, onError });
  lifecycle.onClose(() => mcpServers.close());
  const templates = createTemplateCache();
  const tools = createToolRunner({
    client,
    mcpServers,
    templates,
    schemas: sandbox,
    shares,
    clock,
    tracing: tracer,
  });
  const addOptOut: AddOptOut = async ({ projectId, number, ...entry }) => {
    const at = new Date(clock.now()).toISOString();
    await stores.doNotCall.add(projectId, [number], { ...entry, at });
  };
  const attachedSessions = new WriteBehind({
    sessions: stores.sessions,
    addOptOut,
    spool: createTurnSpool(join(config.DATA_DIR, TURN_SPOOL_FOLDER)),
    clock,
    onError,
  });
  lifecycle.onClose(() => attachedSessions.close());
  if (recoversTurns)
    attachedSessions.start().catch((error: unknown) => onError(error, 'spooled turns not read'));
  const conversations: ConversationEngine = createConversationEngine({
    sessions: stores.sessions,
    attached: new AttachedSessions({
      sessions: stores.sessions,
      attachedSessions,
      lock: redisSessionLock(redis, clock),
      clock,
    }),
    releases: cacheReleases(stores.releases),
    offeredReleases: (projectId, draft) => offeredReleases(stores, projectId, draft),
    turn: {
      models,
      tools: withMocksOfTests({ real: tools, clock, shares }),
      templates,
      shares,
      knowledge,
      scheduleCallback: buildCallbacks(context, () => conversations),
      addOptOut,
      clock,
      onToolFailed: ({ projectId, sessionId }, failure) =>
        logger.warn({ projectId, sessionId, ...failure }, 'tool failed'),
      prefixes: new PromptPrefixes(),
      templateReports: new TemplateReports(({ projectId, sessionId }, problem) => {
        const fields = { projectId, sessionId };
        if (problem.kind === 'failed') logger.warn({ ...fields, reason: problem.reason }, 'template failed');
        else logger.info({ ...fields, variable: problem.variable }, 'template variable not set');
      }),
    },
    beforeStart: createBeforeStart({
      clientOf: ({ standIns }) => (standIns ? mockedBeforeStart(standIns, client, clock) : client),
      memory: stores.memory,
      tracing: tracer,
      clock,
    }),
    endings: {
      async callOf(projectId, callId) {
        const call = await stores.calls.find(projectId, callId);
        if (!call) return undefined;
        return { answered: call.answeredAt !== null, record: call.settings.record, facts: callFacts(call) };
      },
      finalizeTimeoutSeconds: config.FINALIZE_TIMEOUT_SECONDS,
      onEnded,
    },
    tracing: tracer,
    liveEvents,
    makeId,
    usage: {
      admit: (projectId) => countSession(dayQuotas, projectId),
      add: (projectId, used) => usage.add(projectId, used),
      addUsage: (instanceId, used) => stores.history.addUsage(instanceId, used),
      updateCost: (instanceId) => stores.history.updateCost(instanceId),
    },
    onError,
  });
  return { conversations, mcpServers, tools };
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
