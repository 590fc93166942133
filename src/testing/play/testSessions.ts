import { CallwayError, invalid } from '../../base/errors.ts';
import type { HistoryEvent, Session, SessionMessage } from '../../engine/session/session.ts';
import type { SessionEnding, SessionStore, TurnHistory } from '../../engine/session/sessionStore.ts';

/** A session of a test with its history, to be kept once it has ended. */
export interface PlayedSession {
  readonly session: Session;
  readonly messages: readonly SessionMessage[];
  readonly events: readonly HistoryEvent[];
  /** ISO 8601. */
  readonly endedAt: string;
  readonly endReason: string;
}

/** The session of one play, in memory: no search, no limit and no webhook knows of it. */
export class TestSessions implements SessionStore {
  readonly #messages: SessionMessage[] = [];
  readonly #events: HistoryEvent[] = [];
  #session: Session | undefined;
  #ending: SessionEnding | undefined;

  get session(): Session | undefined {
    return this.#session;
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /** Returns what was added since the mark. */
  since(mark: { readonly messages: number; readonly events: number }): TurnHistory {
    return { messages: this.#messages.slice(mark.messages), events: this.#events.slice(mark.events) };
  }

  mark(): { readonly messages: number; readonly events: number } {
    return { messages: this.#messages.length, events: this.#events.length };
  }

  /** @returns The session and its history; undefined when no turn was run. */
  played(now: string): PlayedSession | undefined {
    if (!this.#session) return undefined;
    const { at: endedAt = now, reason: endReason = 'api_end' } = this.#ending ?? {};
    const ended: HistoryEvent = {
      type: 'session_ended',
      at: endedAt,
      data: { reason: endReason, missingVariables: this.#ending?.missingVariables ?? [] },
    };
    const events = [...this.#events, ended];
    return { session: this.#session, messages: this.#messages, events, endedAt, endReason };
  }

  async insert(session: Session, started: HistoryEvent): Promise<void> {
    if (this.#session) throw invalid('session_id_in_use', 'The session of a test is in use');
    this.#session = session;
    this.#events.push(started);
  }

  async find(): Promise<Session | undefined> {
    return this.hasEnded ? undefined : this.#session;
  }

  async messagesBefore({ state }: Session): Promise<readonly SessionMessage[]> {
    return this.#messages.slice(0, state.messagesBefore ?? 0);
  }

  async findByDigest(): Promise<undefined> {
    return undefined;
  }

  async saveTurn(session: Session, { messages, events }: TurnHistory): Promise<void> {
    if (this.hasEnded || this.#session?.turn !== session.turn - 1)
      throw new CallwayError('conflict', 'session_changed', 'The session has ended or changed meanwhile');
    this.#session = session;
    this.#messages.push(...messages);
    this.#events.push(...events);
  }

  async appendLateTurn(_session: Session, { messages, events }: TurnHistory): Promise<void> {
    this.#messages.push(...messages);
    this.#events.push(...events);
  }

  async end(
    _projectId: string,
    _sessionId: string,
    ending: (session: Session) => Promise<SessionEnding | undefined>,
  ): Promise<Session | undefined> {
    if (!this.#session || this.hasEnded) return undefined;
    this.#ending = await ending(this.#session);
    return this.#ending && this.#session;
  }

  async search(): Promise<{ items: []; total: 0; nextCursor: null }> {
    return { items: [], total: 0, nextCursor: null };
  }

  async idle(): Promise<[]> {
    return [];
  }
}
