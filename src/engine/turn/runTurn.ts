import type { AgentRelease } from '../../agents/release.ts';
import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { BuildTurnRequest, ConversationEngine, PreparedSession } from '../conversationEngine.ts';
import { dueForSummary } from '../history/contextWindow.ts';
import { askForSummary } from '../prompt/questions.ts';
import { asksBeforeStart, type Prepared } from '../session/beforeStart.ts';
import type { CurrentRelease } from '../session/currentReleases.ts';
import type { RecentSessions } from '../session/recentSessions.ts';
import { draftSession, markOf, type NewSession, type Session } from '../session/session.ts';
import type { HeldLock, ReleaseStore, SessionLock, SessionStore } from '../session/sessionStore.ts';
import { type Attempt, type AttemptDeps, beginAttempt } from './attempt.ts';
import { createJournal } from './journal.ts';
import type { KeptTurn } from './storeTurn.ts';
import type { TurnDone, TurnOutput, TurnRequest, TurnSink } from './turn.ts';
import { askingOf, createTurnContext, type TurnContext } from './turnContext.ts';
import { createTurnTrace, type TurnTrace } from './turnTrace.ts';

export interface RunTurnDeps extends AttemptDeps {
  readonly sessions: SessionStore;
  readonly releases: Pick<ReleaseStore, 'find'>;
  readonly recent: RecentSessions;
  readonly lock: SessionLock;
  readonly currentRelease: (projectId: string, draft: boolean) => Promise<CurrentRelease>;
  /** Makes a session ready to begin on this release. */
  readonly newSession: (wanted: NewSession, current: CurrentRelease) => PreparedSession;
  /** What is known before the first turn: beforeStartConfig's variables, and the customer's memory. */
  readonly prepare: (
    session: Session,
    release: AgentRelease,
    signal: AbortSignal,
    traceparent: string | undefined,
  ) => Promise<Prepared>;
  /** Absent where nobody traces. */
  readonly tracing?: Tracer;
  readonly end: (session: Session, reason: NonNullable<TurnDone['ended']>) => Promise<unknown>;
  readonly clock: Clock;
}

/** A turn as it is asked for. */
interface Asked {
  readonly wanted: NewSession;
  readonly read: BuildTurnRequest;
  readonly signal: AbortSignal;
  readonly trace: TurnTrace;
}

/** What is begun while the lock is on its way. */
interface HeadStart {
  readonly found: Promise<Session | undefined>;
  /** What a new session would run on; absent where the session is known. */
  readonly release: Promise<CurrentRelease> | undefined;
  /** At the session as this node knows it. */
  readonly attempt: Promise<Attempt> | undefined;
}

/**
 * Takes turns of sessions, each with as little as possible between the customer's words and the model's request.
 *
 * While the lock is on its way, the session is read, and the turn made ready on the session as this node left it. Where
 * the lock tells that nobody has gone on with it since, the model is asked at once; what the read says is waited for
 * before anything of the answer is passed on, or the turn kept. Nor is it before a new session is kept.
 *
 * ```text
 *  lock      ──────┐ nobody was here since
 *  make ready ───┐ ├─▶ ask the model ──────────────┐
 *  read session ─┼─┼───────────▶ as it was ────────┴─▶ answer
 *                └─┴───────────▶ not so: taken back, and begun anew
 * ```
 */
export function createRunTurn(deps: RunTurnDeps): ConversationEngine['runTurn'] {
  const makeReady = (
    { signal, trace }: Asked,
    session: Session,
    release: AgentRelease,
    request: TurnRequest,
    prepared?: Prepared,
  ): Attempt => {
    const begun = prepared ? withPrepared(session, prepared) : session;
    const journal = createJournal(begun, deps.clock);
    for (const { type, data } of prepared?.events ?? []) journal.event(type, data);
    return beginAttempt(
      deps,
      (turn, ownSignal) => trace.over(createTurnContext(turn, begun, release, request, journal, ownSignal)),
      signal,
    );
  };

  const startAhead = (asked: Asked): HeadStart => {
    const { wanted, read } = asked;
    const { projectId, sessionId } = wanted;
    const recent = deps.recent.find(projectId, sessionId);
    const found = wanted.isNew ? Promise.resolve(undefined) : deps.sessions.find(projectId, sessionId);
    const release = recent ? undefined : deps.currentRelease(projectId, wanted.draft ?? false);
    const attempt =
      recent &&
      requireRelease(deps, recent).then((current) => makeReady(asked, recent, current, read(recent)));
    // Thrown where they are waited for, if they ever are.
    for (const one of [found, release, attempt]) one?.catch(() => {});
    return { found, release, attempt };
  };

  const beginNew = async (asked: Asked, ahead: HeadStart, held: HeldLock): Promise<Attempt> => {
    const { wanted, read } = asked;
    // A request that cannot be read makes no session.
    const request = read(draftSession(wanted, new Date(deps.clock.now()).toISOString()));
    const current = await (ahead.release ?? deps.currentRelease(wanted.projectId, wanted.draft ?? false));
    const { session, started } = deps.newSession(wanted, current);
    request.delivery?.onSession(session);
    const kept = deps.sessions.insert(session, started);
    kept.catch(() => {}); // thrown below, unless something else fails first
    const { release } = current;
    // Who is asked about a session may look it up.
    if (asksBeforeStart(release)) await kept;
    const attempt = await beginKnown(asked, session, release, request, held);
    await kept.catch((error: unknown) => {
      void attempt.close();
      throw error;
    });
    return attempt;
  };

  const beginKnown = async (
    asked: Asked,
    session: Session,
    release: AgentRelease,
    request: TurnRequest,
    held: HeldLock,
  ): Promise<Attempt> => {
    const { signal, trace } = asked;
    const prepare = () =>
      deps.prepare(session, release, AbortSignal.any([signal, held.lost]), trace.begin(request).traceparent);
    const prepared = session.turn === 0 ? await prepare() : undefined;
    const attempt = makeReady(asked, session, release, request, prepared);
    attempt.go(held.lost);
    return attempt;
  };

  /** The attempt that counts, on the session as it certainly is. */
  const settle = async (asked: Asked, ahead: HeadStart, held: HeldLock): Promise<Attempt> => {
    const { wanted } = asked;
    const attempt = await ahead.attempt?.catch(() => undefined);
    if (attempt && held.isLeft(markOf(attempt.run.session))) attempt.go(held.lost);
    const seen = await ahead.found;
    const session = held.isNewest(markOf(seen))
      ? seen
      : await deps.sessions.find(wanted.projectId, wanted.sessionId);
    if (session && attempt && markOf(session) === markOf(attempt.run.session)) {
      attempt.run.request.delivery?.onSession(session);
      attempt.go(held.lost);
      return attempt;
    }
    void attempt?.close();
    return session ? await goOn(asked, session, held) : await beginOrJoin(asked, ahead, held);
  };

  const goOn = async (asked: Asked, session: Session, held: HeldLock): Promise<Attempt> => {
    const request = asked.read(session);
    request.delivery?.onSession(session);
    return await beginKnown(asked, session, await requireRelease(deps, session), request, held);
  };

  /**
   * Who makes a session without a turn asks for no lock: one that was made meanwhile is taken as it is, but by a channel
   * that was told of another already.
   */
  const beginOrJoin = async (asked: Asked, ahead: HeadStart, held: HeldLock): Promise<Attempt> => {
    try {
      return await beginNew(asked, ahead, held);
    } catch (error) {
      const { projectId, sessionId } = asked.wanted;
      const isInUse = error instanceof CallwayError && error.code === 'session_id_in_use';
      const made = isInUse ? await deps.sessions.find(projectId, sessionId) : undefined;
      if (!made || asked.read(made).delivery) throw error;
      return await goOn(asked, made, held);
    }
  };

  return async (wanted, read, sink, signal) => {
    // First, since the model waits for nothing but the lock.
    const locking = deps.lock.acquire(wanted.projectId, wanted.sessionId);
    const trace = createTurnTrace(deps, wanted);
    const asked = { wanted, read, signal, trace };
    const ahead = startAhead(asked);
    let attempt: Attempt | undefined;
    let held: HeldLock | undefined;
    try {
      held = await locking;
      attempt = await settle(asked, ahead, held);
      attempt.stand();
      const { run } = attempt;
      await sink({ type: 'start', model: run.modelName });
      const { kept, done } = await passOn(attempt.pieces(), sink, signal);
      if (done.ended) await deps.end(kept, done.ended);
      try {
        await sink(done);
      } finally {
        // The answer is out; the next turn waits until its context is small enough.
        const newest = done.ended ? undefined : await summarise(deps, run, kept);
        if (newest) leave(deps, held, newest);
      }
    } catch (error) {
      if (!signal.aborted) trace.fail(error);
      throw error;
    } finally {
      trace.end();
      // What it may be keeping just then is for the next turn to see.
      await attempt?.close();
      ahead.attempt?.then((early) => early.close()).catch(() => {});
      await held?.release();
    }
  };
}

async function passOn(
  pieces: AsyncGenerator<TurnOutput, KeptTurn>,
  sink: TurnSink,
  signal: AbortSignal,
): Promise<KeptTurn> {
  try {
    let next = await pieces.next();
    for (; !next.done; next = await pieces.next()) {
      await sink(next.value);
      signal.throwIfAborted();
    }
    return next.value;
  } catch (error) {
    await pieces.return(Promise.resolve(undefined as never));
    throw error;
  }
}

function leave({ recent }: RunTurnDeps, held: HeldLock, newest: Session): void {
  held.leave(markOf(newest));
  recent.keep(newest);
}

/**
 * Keeps the context bounded: what is long past becomes a summary, after the answer is out.
 *
 * @returns The session as it is then; undefined where that is not known.
 */
async function summarise(
  deps: RunTurnDeps,
  run: TurnContext,
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

/** What the session runs on. */
export async function requireRelease(
  { releases }: Pick<RunTurnDeps, 'releases'>,
  session: Session,
): Promise<AgentRelease> {
  const release = await releases.find(session.projectId, session.releaseId);
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
