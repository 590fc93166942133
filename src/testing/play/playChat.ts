import { createGraph } from '../../agents/pathway/graph.ts';
import type { TemplateCache } from '../../agents/pathway/templates.ts';
import type { PatternMatcher } from '../../agents/schemaChecker.ts';
import type { ComputeShares } from '../../base/async/computeShares.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { createConversationEngine } from '../../engine/createConversationEngine.ts';
import { PromptPrefixes } from '../../engine/prompt/prompts.ts';
import { TemplateReports } from '../../engine/prompt/templateReports.ts';
import { AttachedSessions } from '../../engine/session/attachedSessions.ts';
import { type BeforeStartClient, createBeforeStart } from '../../engine/session/beforeStart.ts';
import type { SessionLock } from '../../engine/session/sessionLock.ts';
import { WriteBehind } from '../../engine/session/writeBehind.ts';
import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import type { ToolRunner } from '../../engine/tools/toolRunner.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import { ChatChannel } from './chatChannel.ts';
import { createMockedTools, mockedBeforeStart } from './mockedTools.ts';
import { type Played, type PlayRequest, runPlay } from './runPlay.ts';
import { TestSessions } from './testSessions.ts';

export interface PlayerDeps {
  readonly models: ModelChoice;
  /** The real ones, for cases that allow them. */
  readonly tools: ToolRunner;
  readonly client: BeforeStartClient;
  readonly templates: TemplateCache;
  readonly knowledge?: KnowledgeRetriever;
  readonly patterns: PatternMatcher;
  readonly shares: ComputeShares;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/**
 * Plays a case as a chat on an engine of its own: its session is in memory, its tools are the case's. So no webhook is
 * sent, no customer remembered and nothing counted.
 */
export async function playChat(deps: PlayerDeps, play: PlayRequest, signal: AbortSignal): Promise<Played> {
  const { projectId, sessionId, definition } = play;
  const sessions = new TestSessions();
  const channel = new ChatChannel({
    engine: testEngine(deps, play, sessions),
    sessions,
    session: {
      projectId,
      sessionId,
      channel: 'chat',
      draft: play.draft,
      variables: definition.variables ?? undefined,
    },
    graph: createGraph(play.release.pathway),
    clock: deps.clock,
  });
  const outcome = await runPlay(deps, play, channel, signal);
  return { ...outcome, session: sessions.played(new Date(deps.clock.now()).toISOString()) };
}

function testEngine(deps: PlayerDeps, play: PlayRequest, sessions: TestSessions) {
  const { clock, shares, makeId } = deps;
  const { toolMocks: mocks, allowRealTools } = play.definition;
  const onError = () => undefined; // what fails beside a turn, such as a summary, fails no test
  return createConversationEngine({
    sessions,
    attached: new AttachedSessions({
      sessions,
      attachedSessions: new WriteBehind({
        sessions,
        spool: { put: async () => undefined, drop: async () => undefined, readPending: async () => [] },
        clock,
        onError,
      }),
      lock: OPEN_LOCK,
      clock,
    }),
    releases: {
      keep: async () => play.releaseId,
      find: async () => play.release,
      add: () => undefined,
      stampOf: async () => undefined,
      removeUnused: async () => undefined,
    },
    offeredReleases: async () => ({ live: play.release }),
    turn: {
      models: deps.models,
      tools: createMockedTools({ mocks, real: allowRealTools ? deps.tools : undefined, clock, shares }),
      templates: deps.templates,
      shares,
      knowledge: deps.knowledge,
      clock,
      prefixes: new PromptPrefixes(),
      templateReports: new TemplateReports(() => undefined),
      onToolFailed: () => undefined,
    },
    beforeStart: createBeforeStart({
      clientOf: () => mockedBeforeStart(play.definition, deps.client, clock),
      memory: { find: async () => undefined, keep: async () => undefined },
      clock,
    }),
    endings: {
      callOf: async () => undefined,
      finalizeTimeoutSeconds: 0,
      onEnded: () => undefined,
    },
    usage: {
      admit: async () => undefined,
      add: () => undefined,
      addUsage: async () => undefined,
      updateCost: async () => undefined,
    },
    makeId,
    onError,
  });
}

/** A play runs its turns one after the other. */
const OPEN_LOCK: SessionLock = {
  acquire: async () => ({
    lost: new AbortController().signal,
    wasContended: false,
    release: async () => undefined,
  }),
};
