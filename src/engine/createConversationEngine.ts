import type { AgentRelease } from '../agents/release.ts';
import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { Tracer } from '../base/tracing.ts';
import type { ConversationEngine, PreparedSession } from './conversationEngine.ts';
import type { Prepared } from './session/beforeStart.ts';
import { type CurrentRelease, createCurrentReleases } from './session/currentReleases.ts';
import { createRecentSessions } from './session/recentSessions.ts';
import { draftSession, type EndReason, type NewSession, type Session } from './session/session.ts';
import { endingOf, type SessionCall } from './session/sessionEnding.ts';
import type { ReleaseStore, SessionLock, SessionStore } from './session/sessionStore.ts';
import { createRunTurn, requireRelease } from './turn/runTurn.ts';
import type { TurnDeps } from './turn/turnContext.ts';

export interface ConversationEngineDeps {
  readonly sessions: SessionStore;
  readonly releases: ReleaseStore;
  /** What callers of a project get at this moment. */
  readonly releaseFor: (projectId: string, draft: boolean) => Promise<AgentRelease>;
  readonly lock: SessionLock;
  readonly turn: TurnDeps;
  /** What is known before the first turn: beforeStartConfig's variables, and the customer's memory. */
  readonly prepare: (
    session: Session,
    release: AgentRelease,
    signal: AbortSignal,
    traceparent: string | undefined,
  ) => Promise<Prepared>;
  /** Absent where nobody traces. */
  readonly tracing?: Tracer;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** How long session.finalized waits for the events before it. */
  readonly finalizeTimeoutSeconds: number;
  /** What a phone session's end has to know of its call; absent where there are no calls. */
  readonly callOf?: (projectId: string, callId: string) => Promise<SessionCall | undefined>;
  /** Told when a session has ended and its webhooks are due. */
  readonly onEnded: () => void;
  readonly onError: (error: unknown, what: string) => void;
}

export function createConversationEngine(deps: ConversationEngineDeps): ConversationEngine {
  const recent = createRecentSessions(deps.clock);
  const currentRelease = createCurrentReleases(deps);

  const newSession = (wanted: NewSession, { release, releaseId }: CurrentRelease): PreparedSession => {
    const session: Session = {
      ...draftSession(wanted, new Date(deps.clock.now()).toISOString()),
      instanceId: deps.makeId(),
      pathwayId: release.pathwayId,
      releaseId,
    };
    const { channel, provider, pathwayId } = session;
    const version = release.pathwayVersion;
    const data = { channel, provider, pathwayId, pathwayVersion: version, draft: wanted.draft ?? false };
    return { session, started: { type: 'session_started', at: session.startedAt, data } };
  };

  const prepare = async (wanted: NewSession): Promise<PreparedSession> =>
    newSession(wanted, await currentRelease(wanted.projectId, wanted.draft ?? false));

  const create = async (wanted: NewSession): Promise<Session> => {
    const { session, started } = await prepare(wanted);
    await deps.sessions.insert(session, started);
    return session;
  };

  const end = async (
    projectId: string,
    sessionId: string,
    reason: EndReason,
    isMeant: (session: Session) => boolean = () => true,
  ): Promise<boolean> => {
    const ended = await deps.sessions.end(projectId, sessionId, async (session) => {
      if (!isMeant(session)) return undefined;
      const { agent } = await requireRelease(deps, session);
      const call = session.callId === null ? undefined : await deps.callOf?.(projectId, session.callId);
      return endingOf(agent, reason, call, deps.clock.now(), deps.finalizeTimeoutSeconds);
    });
    recent.forget(projectId, sessionId);
    if (ended) deps.onEnded();
    return ended !== undefined;
  };

  const runTurn = createRunTurn({
    ...deps,
    recent,
    currentRelease,
    newSession,
    // Its id may have begun another life since.
    end: ({ projectId, sessionId, instanceId }, reason) =>
      end(projectId, sessionId, reason, (live) => live.instanceId === instanceId),
  });

  return {
    prepare,
    create,
    end: (projectId, sessionId, reason) => end(projectId, sessionId, reason),
    endIdle: ({ projectId, sessionId, instanceId, turn: idleTurn }) =>
      deps.lock.run(projectId, sessionId, () =>
        end(projectId, sessionId, 'idle', (live) => live.instanceId === instanceId && live.turn === idleTurn),
      ),
    find: (projectId, sessionId) => deps.sessions.find(projectId, sessionId),
    runTurn,
  };
}
