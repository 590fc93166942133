import { sleep } from '../../base/async/sleep.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type Call, isRecordingFinal } from '../../calls/call.ts';
import type { HistoryDetail } from '../../engine/history/historyStore.ts';
import type { TurnHistory } from '../../engine/session/sessionStore.ts';

const POLL_MS = 100;
/** The end of a call is stored within a moment, and its recording soon after. */
const STORED_WITHIN_MS = 10_000;

export interface SessionRecordDeps {
  readonly history: { find(projectId: string, sessionId: string): Promise<HistoryDetail | undefined> };
  readonly calls: { find(projectId: string, callId: string): Promise<Call | undefined> };
  readonly clock: Clock;
  /** Ends what waits for the database. */
  readonly signal: AbortSignal;
}

export interface RecordedCall {
  readonly projectId: string;
  readonly sessionId: string;
  readonly callId: string;
  /** The variables that the session begins with. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Reads what is stored of a test call and its session. */
export class SessionRecord {
  readonly #deps: SessionRecordDeps;
  readonly #call: RecordedCall;
  #detail: HistoryDetail | undefined;
  #taken = { messages: 0, events: 0 };

  constructor(deps: SessionRecordDeps, call: RecordedCall) {
    this.#deps = deps;
    this.#call = call;
  }

  get variables(): Readonly<Record<string, unknown>> {
    return (this.#detail?.variables as Readonly<Record<string, unknown>>) ?? this.#call.variables;
  }

  /** The newest entry since `takeNew`, as of the last reading. */
  get newest(): 'nothing' | 'answer' | 'words' {
    const messages = this.#detail?.messages.slice(this.#taken.messages) ?? [];
    const last = messages.findLast(({ role, content }) => role !== 'tool' && content);
    if (!last) return 'nothing';
    return last.role === 'assistant' ? 'answer' : 'words';
  }

  get hasEnded(): boolean {
    return this.#detail?.status === 'ended';
  }

  async read(): Promise<void> {
    const { projectId, sessionId } = this.#call;
    this.#detail = (await this.#deps.history.find(projectId, sessionId)) ?? this.#detail;
  }

  async untilEnded(): Promise<void> {
    await this.#poll(async () => {
      await this.read();
      return this.hasEnded;
    });
  }

  takeNew(): TurnHistory {
    const { messages = [], events = [] } = this.#detail ?? {};
    const taken = this.#taken;
    this.#taken = { messages: messages.length, events: events.length };
    return { messages: messages.slice(taken.messages), events: events.slice(taken.events) };
  }

  /** Whether the agent has rejected the call instead of answering it. */
  async wasRejected(): Promise<boolean> {
    await this.untilEnded();
    return (this.#detail?.events ?? []).some(
      ({ type, data }) => type === 'call_status' && data.endReason === 'rejected',
    );
  }

  /** @param atMs - Unix time. @returns Where it is in the recording, which begins with the answer. */
  inRecording(atMs: number): number {
    const answered = this.#detail?.events.find(
      ({ type, data }) => type === 'call_status' && data.status === 'in_progress',
    );
    return answered ? Math.max(0, Math.round(atMs - Date.parse(answered.at))) : 0;
  }

  /** Whether the agent has understood that the person wants no more calls, as of the last reading. */
  get hasOptedOut(): boolean {
    return (this.#detail?.events ?? []).some(({ type }) => type === 'opt_out');
  }

  /** @returns The call once it has ended and its recording is stored; undefined where there is none. */
  async endedCall(): Promise<Call | undefined> {
    const { projectId, callId } = this.#call;
    let call: Call | undefined;
    await this.#poll(async () => {
      call = await this.#deps.calls.find(projectId, callId);
      return !call || (call.endedAt !== null && (call.answeredAt === null || isRecordingFinal(call)));
    });
    return call;
  }

  async #poll(isDone: () => Promise<boolean>): Promise<void> {
    const { clock, signal } = this.#deps;
    const untilMs = clock.monotonicMs() + STORED_WITHIN_MS;
    while (!(await isDone()) && clock.monotonicMs() < untilMs) await sleep(clock, POLL_MS, signal);
  }
}
