import type { AgentRelease } from '../agents/release.ts';
import { createCalendar } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import { joinLookups } from '../base/joinedLookups.ts';
import { linkAbort } from '../models/linkedAbort.ts';
import { dueForSummary } from './context.ts';
import type { Conversations, NewSession, PreparedSession, TurnReader } from './conversations.ts';
import { endingOf, type SessionCall } from './ending.ts';
import { createJournal } from './journal.ts';
import { keepTurn } from './keepTurn.ts';
import { askForSummary } from './questions.ts';
import { type EndReason, newSessionState, type Session, type SessionEvent } from './session.ts';
import type { HeldTurn, ReleaseStore, SessionStore, TurnLock } from './stores.ts';
import type { TurnOutput } from './turn.ts';
import { askingOf, createTurnRun, type TurnDeps, type TurnRun } from './turnRun.ts';

export interface ConversationsDeps {
  readonly sessions: SessionStore;
  readonly releases: ReleaseStore;
  /** What callers of a project get at this moment. */
  readonly releaseFor: (projectId: string, draft: boolean) => Promise<AgentRelease>;
  readonly lock: TurnLock;
  readonly turn: TurnDeps;
  /** What is known before the first turn: beforeStartConfig's variables, and the customer's memory. */
  readonly prepare: (session: Session, release: AgentRelease, signal: AbortSignal) => Promise<Prepared>;
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

export interface Prepared {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly memory: string | null;
  readonly events: readonly SessionEvent[];
}

export function createConversations(deps: ConversationsDeps): Conversations {
  const now = () => new Date(deps.clock.now()).toISOString();
  const calendar = createCalendar();

  // When hundreds of sessions begin at once, they do so on one and the same release.
  const liveRelease = joinLookups((projectId: string) => keepCurrentRelease(deps, projectId, false));
  const draftRelease = joinLookups((projectId: string) => keepCurrentRelease(deps, projectId, true));

  const prepare = async (wanted: NewSession): Promise<PreparedSession> => {
    const currentRelease = wanted.draft ? draftRelease : liveRelease;
    const { release, releaseId } = await currentRelease(wanted.projectId);
    const session: Session = {
      projectId: wanted.projectId,
      sessionId: wanted.sessionId,
      instanceId: deps.makeId(),
      channel: wanted.channel,
      provider: wanted.provider ?? null,
      callId: wanted.callId ?? null,
      pathwayId: release.pathwayId,
      releaseId,
      turn: 0,
      startedAt: now(),
      lastActivityAt: now(),
      state: newSessionState(wanted.variables ?? {}),
    };
    const { channel, provider, pathwayId } = session;
    const version = release.pathwayVersion;
    const data = { channel, provider, pathwayId, pathwayVersion: version, draft: wanted.draft ?? false };
    return { session, started: { type: 'session_started', at: session.startedAt, data } };
  };

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
    if (ended) deps.onEnded();
    return ended !== undefined;
  };

  const turn = async function* (
    wanted: NewSession,
    read: TurnReader,
    early: Promise<Session | undefined>,
    held: HeldTurn,
    outerSignal: AbortSignal,
  ): AsyncGenerator<TurnOutput> {
    const { signal, unlink } = linkAbort(outerSignal, held.lost);
    try {
      const seen = await early;
      const found = held.isNewest(markOf(seen))
        ? seen
        : await deps.sessions.find(wanted.projectId, wanted.sessionId);
      // A request that cannot be read makes no session.
      const request = read(found ?? draftSession(wanted, now()));
      const session = found ?? (await create(wanted));
      const release = await requireRelease(deps, session);
      const prepared = session.turn === 0 ? await deps.prepare(session, release, signal) : undefined;
      const begun = prepared ? withPrepared(session, prepared) : session;
      const journal = createJournal(begun, deps.clock);
      for (const { type, data } of prepared?.events ?? []) journal.event(type, data);
      const run = createTurnRun(deps.turn, calendar, begun, release, request, journal, signal);
      yield { type: 'start', model: run.modelName };
      const { kept, done } = yield* keepTurn(deps, run);
      if (done.ended) await end(session.projectId, session.sessionId, done.ended);
      try {
        yield done;
      } finally {
        // The answer is out; the next turn waits until its context is small enough.
        const newest = done.ended ? undefined : await summarise(deps, run, kept);
        if (newest) held.leave(markOf(newest));
      }
    } finally {
      unlink();
    }
  };

  return {
    prepare,
    create,
    end: (projectId, sessionId, reason) => end(projectId, sessionId, reason),
    endIdle: ({ projectId, sessionId, instanceId, turn: idleTurn }) =>
      deps.lock.run(projectId, sessionId, () =>
        end(projectId, sessionId, 'idle', (live) => live.instanceId === instanceId && live.turn === idleTurn),
      ),
    find: (projectId, sessionId) => deps.sessions.find(projectId, sessionId),
    converse: (wanted, read, signal) => ({
      [Symbol.asyncIterator]() {
        const { projectId, sessionId } = wanted;
        // Read while the lock is on its way; whether that was too early, the lock tells.
        const early = deps.sessions.find(projectId, sessionId);
        early.catch(() => {}); // thrown where it is waited for, unless there is no lock to be had either
        const pieces = deps.lock.stream(projectId, sessionId, (held) =>
          turn(wanted, read, early, held, signal),
        );
        return pieces[Symbol.asyncIterator]();
      },
    }),
  };
}

/** Names a state of a session id, so that nobody takes an older one for it. */
function markOf(session: Session | undefined): string {
  return session ? `${session.instanceId} ${session.turn}` : 'none';
}

/**
 * Keeps the context bounded: what is long past becomes a summary, after the answer is out.
 *
 * @returns The session as it is then; undefined where that is not known.
 */
async function summarise(
  deps: ConversationsDeps,
  run: TurnRun,
  session: Session,
): Promise<Session | undefined> {
  const upTo = dueForSummary(session.state);
  if (upTo === 0) return session;
  try {
    const text = await askForSummary(askingOf(run, undefined));
    const state = { ...session.state, summary: { text, upTo } };
    const next = { ...session, turn: session.turn + 1, state };
    await deps.sessions.saveTurn(next, { messages: [], events: [] });
    return next;
  } catch (error) {
    // The context is cut to its newest messages until a summary can be had.
    deps.onError(error, 'a talk was not summarised');
    return undefined;
  }
}

/** What a session that begins now runs on, kept. */
async function keepCurrentRelease(deps: ConversationsDeps, projectId: string, draft: boolean) {
  const release = await deps.releaseFor(projectId, draft);
  return { release, releaseId: await deps.releases.keep(projectId, release) };
}

async function requireRelease(deps: ConversationsDeps, session: Session): Promise<AgentRelease> {
  const release = await deps.releases.find(session.projectId, session.releaseId);
  if (!release) throw new Error(`session ${session.instanceId} runs on a release that is gone`);
  return release;
}

function withPrepared(session: Session, prepared: Prepared): Session {
  const state = {
    ...session.state,
    variables: { ...prepared.variables, ...session.state.variables },
    memory: prepared.memory,
  };
  return { ...session, state };
}

/** Stands for a session that would be made, so that a request can be read before it is. */
function draftSession(wanted: NewSession, at: string): Session {
  return {
    projectId: wanted.projectId,
    sessionId: wanted.sessionId,
    instanceId: '',
    channel: wanted.channel,
    provider: wanted.provider ?? null,
    callId: wanted.callId ?? null,
    pathwayId: '',
    releaseId: '',
    turn: 0,
    startedAt: at,
    lastActivityAt: at,
    state: newSessionState(wanted.variables ?? {}),
  };
}
