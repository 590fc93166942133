import type { RetentionDaysPatch } from '../../../../src/agents/accounts/retention.ts';
import { type AgentConfig, newAgentConfig } from '../../../../src/agents/agentConfig.ts';
import { starterPathway } from '../../../../src/agents/pathway/schema/starterPathway.ts';
import type { AgentRelease } from '../../../../src/agents/releases/release.ts';
import { createSealer } from '../../../../src/base/sealer.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { type Session, type SessionMessage, withMessages } from '../../../../src/engine/session/session.ts';
import type { SessionEnding, TurnHistory } from '../../../../src/engine/session/sessionStore.ts';
import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { createStorage } from '../../../../src/infra/postgres/storage.ts';
import { makeSession } from '../../../engine/support/makeSession.ts';

export const BEGIN = '2026-01-01T12:00:00.001Z';
export const NOTHING: TurnHistory = { messages: [], events: [] };

/** This many milliseconds after {@link BEGIN}. */
export const later = (ms: number): string => new Date(Date.parse(BEGIN) + ms).toISOString();

/** A new project with a release, in a shared database. */
export async function sessionWorld(database: Database, { config = {}, ...settings }: Partial<Settings> = {}) {
  const storage = createStorage(database, createSealer(Buffer.alloc(32, 7)));
  const { projects, releases, sessions } = storage.stores;
  const projectId = uuidV7();
  await projects.insert({
    id: projectId,
    name: 'p',
    sessionIdleMinutes: 5,
    historyRetentionDays: 30,
    reportUsage: false,
    ...settings,
    createdAt: BEGIN,
    updatedAt: BEGIN,
  });
  const release = makeRelease(config);
  const releaseId = await releases.keep(projectId, release);

  const start = async (change: Partial<Session> = {}): Promise<Session> => {
    const instanceId = uuidV7();
    const session = makeSession({
      projectId,
      sessionId: `session ${instanceId}`,
      instanceId,
      channel: 'chat',
      callId: null,
      pathwayId: release.pathwayId,
      releaseId,
      startedAt: BEGIN,
      lastActivityAt: BEGIN,
      ...change,
    });
    await sessions.insert(session, { type: 'session_started', at: session.startedAt, data: { a: 1 } });
    return session;
  };
  /** Stores a turn with these messages. */
  const say = async (session: Session, messages: readonly SessionMessage[], at = BEGIN): Promise<Session> => {
    const state = withMessages(session.state, messages);
    const next = { ...session, turn: session.turn + 1, lastActivityAt: at, state };
    await sessions.saveTurn(next, { messages, events: [] });
    return next;
  };
  const end = (session: Session, ending: Partial<SessionEnding> = {}) =>
    sessions.end(session.projectId, session.sessionId, async () => ({ ...ENDING, ...ending }));
  return { ...storage, projectId, release, releaseId, start, say, end };
}

export type SessionWorld = Awaited<ReturnType<typeof sessionWorld>>;

interface Settings {
  readonly sessionIdleMinutes: number | undefined;
  readonly historyRetentionDays: number | null;
  readonly retentionDays: RetentionDaysPatch;
  readonly config: Partial<AgentConfig>;
}

export const ENDING: SessionEnding = {
  at: later(60_000),
  missingVariables: [],
  language: null,
  reason: 'api_end',
  finalizeBy: later(180_000),
  expected: ['session.ended', 'session.finalized'],
  subscribed: ['session.ended'],
  evaluating: false,
  skippedAnalysis: null,
  readsMessages: true,
};

export const user = (content: string): SessionMessage => ({ role: 'user', content, at: BEGIN });
export const agent = (content: string, latencyMs?: number): SessionMessage => ({
  role: 'assistant',
  content,
  at: BEGIN,
  nodeId: 'greeting',
  ...(latencyMs === undefined ? {} : { latencyMs }),
});

function makeRelease(config: Partial<AgentConfig>): AgentRelease {
  return {
    agent: { ...newAgentConfig('a'), ...config },
    pathwayId: uuidV7(),
    pathwayVersion: 3,
    pathway: starterPathway(),
    tools: [],
  };
}
