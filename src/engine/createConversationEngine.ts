import { isNone, UsageTally } from '../agents/cost/usage.ts';
import type { AgentRelease } from '../agents/releases/release.ts';
import { retryForever } from '../base/async/retryForever.ts';
import { CallwayError } from '../base/errors.ts';
import type { Tracer } from '../base/tracing.ts';
import type { Clock } from '../base/values/clock.ts';
import type { MakeId } from '../base/values/ids.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type {
  BuildTurnRequest,
  ConversationEngine,
  PreparedSession,
  StartingSession,
} from './conversationEngine.ts';
import type { ClientConversation } from './history/clientConversation.ts';
import { summariseIfDue } from './memory/conversationSummary.ts';
import type { AttachedSessions } from './session/attachedSessions.ts';
import type { BeforeStart } from './session/beforeStart.ts';
import { NewSessions, storedRelease } from './session/newSessions.ts';
import type { CachedReleases, CurrentReleasesDeps } from './session/releases.ts';
import {
  draftSession,
  type EndReason,
  type IdleSession,
  type NewSession,
  type Session,
} from './session/session.ts';
import { type EndingDeps, SessionEndings, type UsageRecorder } from './session/sessionEnding.ts';
import { sessionStarted } from './session/sessionEvents.ts';
import { sessionPolicy } from './session/sessionPolicy.ts';
import type { SessionStore, TurnStore } from './session/sessionStore.ts';
import { optOutOf } from './tools/optOut/optOut.ts';
import { saysOptOut } from './tools/optOut/optOutWords.ts';
import { Journal } from './turn/journal.ts';
import { runTurn } from './turn/runTurn.ts';
import type { TurnRequest, TurnSink } from './turn/turn.ts';
import { createTurnContext, type TurnContext, type TurnDeps } from './turn/turnContext.ts';
import { TurnEvents } from './turn/turnEvents.ts';
import { TurnTrace } from './turn/turnTrace.ts';

export interface ConversationEngineDeps {
  readonly sessions: SessionStore;
  readonly attached: AttachedSessions;
  readonly releases: CachedReleases;
  /** @see CurrentReleasesDeps.offeredReleases */
  readonly offeredReleases: CurrentReleasesDeps['offeredReleases'];
  readonly turn: TurnDeps;
  readonly beforeStart: BeforeStart;
  readonly endings: EndingDeps;
  readonly usage: UsageRecorder;
  /** Default: no tracing. */
  readonly tracing?: Tracer;
  /** Publishes live events; undefined in tests, which have no subscribers. */
  readonly liveEvents?: LiveEvents | undefined;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

/** What a turn runs on, once the session's lock is held. */
interface OpenedSession {
  readonly session: Session;
  readonly release: AgentRelease;
  readonly request: TurnRequest;
}

/** A turn that holds the lock of its session. */
interface LockedTurn extends OpenedSession {
  readonly sessions: TurnStore;
  readonly sink: TurnSink;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** @see UpToDateSession.lost */
  readonly lost: AbortSignal;
}

export function createConversationEngine(deps: ConversationEngineDeps): ConversationEngine {
  return new Engine(deps);
}

class Engine implements ConversationEngine {
  readonly #deps: ConversationEngineDeps;
  readonly #clock: Clock;
  readonly #attached: AttachedSessions;
  readonly #newSessions: NewSessions;
  readonly #endings: SessionEndings;

  constructor(deps: ConversationEngineDeps) {
    this.#deps = deps;
    const { attached, turn, usage, liveEvents, onError } = deps;
    this.#clock = turn.clock;
    this.#attached = attached;
    this.#newSessions = new NewSessions({ ...deps, clock: turn.clock });
    this.#endings = new SessionEndings({
      ...deps.endings,
      attached,
      usage,
      liveEvents,
      onError,
      releaseOf: (session) => this.releaseOf(session),
      models: turn.models,
      clock: turn.clock,
    });
  }

  async prepare(wanted: NewSession): Promise<PreparedSession> {
    return this.#newSessions.makeSession(await this.#newSessions.admit(wanted), wanted);
  }

  async prepareAgain(wanted: NewSession): Promise<PreparedSession> {
    return this.#newSessions.makeSession(await this.#newSessions.releaseFor(wanted), wanted);
  }

  async create(wanted: NewSession): Promise<Session> {
    const { session, started } = await this.prepare(wanted);
    await this.#deps.sessions.insert(session, started);
    this.#deps.liveEvents?.publish(sessionStarted(session, started));
    return session;
  }

  async start(
    { projectId, sessionId, call, traceparent }: StartingSession,
    signal: AbortSignal,
  ): Promise<Session | undefined> {
    const { sessions, beforeStart } = this.#deps;
    const session = await sessions.find(projectId, sessionId);
    if (!session || session.turn > 0) return session;
    const release = await this.releaseOf(session);
    if (!release.agent.beforeStartConfig && !release.agent.memoryEnabled) return session;
    const called: Session = { ...session, state: { ...session.state, call } };
    const { state, events } = await beforeStart(called, release, signal, traceparent);
    const started: Session = { ...session, turn: 1, state };
    try {
      await sessions.saveTurn(started, { messages: [], events });
      return started;
    } catch (error) {
      // Ended, or started by another request, meanwhile.
      if (error instanceof CallwayError && error.code === 'session_changed')
        return await sessions.find(projectId, sessionId);
      throw error;
    }
  }

  releaseOf({ projectId, releaseId }: Session): Promise<AgentRelease> {
    return storedRelease(this.#deps.releases, projectId, releaseId);
  }

  knowRelease({ projectId, releaseId }: Session, release: AgentRelease): void {
    this.#deps.releases.add(projectId, releaseId, release);
  }

  find(projectId: string, sessionId: string): Promise<Session | undefined> {
    return this.#attached.access(projectId, sessionId).sessions.find(projectId, sessionId);
  }

  async withAllMessages(session: Session): Promise<Session> {
    const { messagesBefore = 0, ...state } = session.state;
    if (messagesBefore === 0) return session;
    const before = await this.#deps.sessions.messagesBefore(session);
    const summary = state.summary && { ...state.summary, upTo: state.summary.upTo + before.length };
    return { ...session, state: { ...state, messages: [...before, ...state.messages], summary } };
  }

  findContinued(projectId: string, conversation: ClientConversation, except: readonly string[]) {
    return this.#deps.sessions.findByDigest(projectId, conversation.candidates(), except);
  }

  attach(...session: Parameters<ConversationEngine['attach']>): ReturnType<ConversationEngine['attach']> {
    const [projectId, sessionId, started, call] = session;
    return this.#attached.attach(projectId, sessionId, started, call);
  }

  detach(projectId: string, sessionId: string): void {
    this.#attached.detach(projectId, sessionId);
  }

  async runTurn(
    wanted: NewSession,
    buildRequest: BuildTurnRequest,
    sink: TurnSink,
    signal: AbortSignal,
  ): Promise<void> {
    const { projectId, sessionId, isNew = false } = wanted;
    await this.#deps.turn.shares.of(projectId).ready(signal);
    const { sessions, lock } = this.#attached.access(projectId, sessionId);
    const acquiring = lock.acquire(projectId, sessionId);
    const isHeld = isNew || this.#attached.holdsCall(projectId, sessionId);
    const reading = isHeld ? undefined : sessions.find(projectId, sessionId);
    reading?.catch(() => {}); // reported below, unless the lock fails first
    const held = await acquiring;
    try {
      const { session, lost } = await this.#attached.upToDate(wanted, held, reading);
      const opened = session
        ? await this.#openKnown(session, buildRequest)
        : await this.#openNew(sessions, wanted, buildRequest);
      await this.#run({ ...opened, sessions, sink, signal, lost }, wanted);
    } finally {
      await held.release();
    }
  }

  async heardAfterEnd(session: Session, words: readonly string[]): Promise<void> {
    const { sessions, turn, onError } = this.#deps;
    const { agent } = await this.releaseOf(session);
    const reason = (agent.optOut?.detect ?? true) ? words.find(saysOptOut) : undefined;
    if (reason === undefined) return;
    const wish = optOutOf(await this.#withCall(session), 'spoken', reason);
    if (!wish) return;
    const failed = (error: unknown) => onError(error, 'opt-out not listed, retrying');
    await retryForever(this.#clock, async () => await turn.addOptOut?.(wish), failed);
    const event = { type: 'opt_out', at: this.#now(), data: { source: 'spoken', reason } } as const;
    await sessions.appendLateTurn(session, { messages: [], events: [event] });
  }

  end(projectId: string, sessionId: string, reason: EndReason): Promise<boolean> {
    return this.#endings.end(projectId, sessionId, reason);
  }

  endIdle(found: IdleSession): Promise<boolean> {
    return this.#endings.endIdle(found);
  }

  async #run(
    { sessions, session, release, request, sink, signal: outerSignal, lost }: LockedTurn,
    wanted: NewSession,
  ): Promise<void> {
    const { tracing, onError } = this.#deps;
    const signal = AbortSignal.any([outerSignal, lost]);
    const tally = request.tally ?? new UsageTally();
    const trace = new TurnTrace({ tracing, clock: this.#clock }, wanted, request);
    try {
      const events = new TurnEvents(this.#eventsOf(session), session, request.delivery?.commitment);
      const { started, journal } = await this.#prepareTurn(
        { session, release, request, events },
        signal,
        trace,
      );
      const metered = { ...request, tally };
      const start = { session: started, release, request: metered, journal, events, trace, sink, signal };
      const turn = createTurnContext(this.#deps.turn, start);
      await sink({ type: 'start', model: turn.modelName });
      const completed = await runTurn({ sessions, onError }, turn).finally(() => this.#countTurn(turn));
      const { ended } = completed.done;
      // The session's id may belong to another session by now.
      const { projectId, sessionId, instanceId } = completed.session;
      if (ended)
        await this.#endings.end(projectId, sessionId, ended, (live) => live.instanceId === instanceId);
      await sink(completed.done);
      // The answer is out; the next turn waits until its context is small enough.
      if (!ended) await summariseIfDue({ sessions, onError }, turn, completed.session);
    } catch (error) {
      if (!outerSignal.aborted) trace.recordError(error);
      throw error;
    } finally {
      trace.end();
      if (!request.tally) await this.#storeUsage(session, tally);
    }
  }

  /** Stores what the turn has used, where it was not stored itself. */
  async #storeUsage({ instanceId }: Session, tally: UsageTally): Promise<void> {
    const { usage, onError } = this.#deps;
    const used = tally.take();
    if (isNone(used)) return;
    await usage
      .addUsage(instanceId, used)
      .catch((error: unknown) => onError(error, 'usage of a turn not stored'));
  }

  #countTurn({ session: { projectId, state }, request, usage, journal }: TurnContext): void {
    if (!sessionPolicy(state).countsUsage) return;
    const characters = request.delivery ? journal.said().length : 0;
    this.#deps.usage.add(projectId, { tokens: usage.total.totalTokens, characters });
  }

  /** A session's first turn waits for its call's facts, the answer of `beforeStartConfig` and the customer's memory. */
  async #prepareTurn(
    {
      session: known,
      release,
      request,
      events: turnEvents,
    }: Pick<TurnContext, 'session' | 'release' | 'request' | 'events'>,
    signal: AbortSignal,
    trace: TurnTrace,
  ) {
    const { beforeStart } = this.#deps;
    const session = known.state.currentNodeId === null ? await this.#withCall(known) : known;
    const journalOf = (started: Session) =>
      new Journal(started, this.#clock, (type, data) => turnEvents.noted(type, data));
    if (session.turn > 0) return { started: session, journal: journalOf(session) };
    const variables = { ...request.variables, ...session.state.variables };
    const asked = { ...session, state: { ...session.state, variables } };
    const { state, events } = await beforeStart(asked, release, signal, trace.traceparent);
    const started = { ...session, state };
    const journal = journalOf(started);
    for (const { type, data } of events) journal.event(type, data);
    return { started, journal };
  }

  /** Adds the call's present facts: it may have been dialed over another trunk than the first. */
  async #withCall(session: Session): Promise<Session> {
    const { onError } = this.#deps;
    const known = this.#attached.callOf(session);
    if (known) return { ...session, state: { ...session.state, call: known } };
    const call = await this.#endings
      .callOf(session)
      .catch((error: unknown) => onError(error, 'facts of the call not read'));
    return call ? { ...session, state: { ...session.state, call: call.facts } } : session;
  }

  async #openKnown(session: Session, buildRequest: BuildTurnRequest): Promise<OpenedSession> {
    const request = await buildRequest(session);
    request.delivery?.onSession(session);
    return { session, release: await this.releaseOf(session), request };
  }

  async #openNew(
    sessions: TurnStore,
    wanted: NewSession,
    buildRequest: BuildTurnRequest,
    attemptsLeft = 2,
  ): Promise<OpenedSession> {
    const { projectId, sessionId } = wanted;
    // A request that is rejected creates no session.
    const request = await buildRequest(draftSession(wanted, this.#now()));
    const current = await this.#newSessions.admit(wanted, request.variables);
    const { session, started } = this.#newSessions.makeSession(current, wanted);
    request.delivery?.onSession(session);
    try {
      await sessions.insert(session, started);
    } catch (error) {
      // The API creates sessions without the lock. A channel that was told of this one cannot switch to another.
      const isInUse = error instanceof CallwayError && error.code === 'session_id_in_use';
      if (!isInUse || request.delivery) throw error;
      const created = await sessions.find(projectId, sessionId);
      if (created) return await this.#openKnown(created, buildRequest);
      // It has ended again.
      if (attemptsLeft === 0) throw error;
      return await this.#openNew(sessions, wanted, buildRequest, attemptsLeft - 1);
    }
    this.#eventsOf(session)?.publish(sessionStarted(session, started));
    return { session, release: current.release, request };
  }

  #eventsOf({ state }: Session): LiveEvents | undefined {
    return sessionPolicy(state).publishesEvents ? this.#deps.liveEvents : undefined;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
