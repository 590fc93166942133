import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { TurnCheckpoint } from '../../engine/session/interruptedTurn.ts';
import type { NewSession, Session } from '../../engine/session/session.ts';
import type { CurrentNode } from '../../engine/turn/delivery.ts';
import type { ExternalMessage, TurnInput } from '../../engine/turn/turn.ts';
import type { AudioStream, AudioStreamEvents } from '../audioStream.ts';
import { type AgentSpeech, createAgentSpeech } from '../speech/agentSpeech.ts';
import { AGENT_FAILED } from '../speech/fallbackPhraseFor.ts';
import type { SpeechSynthesis } from '../speech/speechSynthesis.ts';
import type { SpokenTurn, VoiceReport } from '../voiceReport.ts';
import { type AgentTurn, type AgentTurnResult, startAgentTurn } from './agentTurn.ts';
import type { TurnCheckpoints } from './turnCheckpoints.ts';
import type { TurnTimestamps } from './turnLatency.ts';

/** The session was ended by somebody else while the call went on. */
export const SESSION_ENDED = 'session_ended';

/** A machine that records waits for nobody, and these have words at once. */
const UNFILLED: ReadonlySet<TurnInput['kind']> = new Set(['voicemail', 'notice', 'last_words']);
/** Nobody waits longer for a sign of life, nor for so long again for another one. */
const FILL_AFTER_MS = 4_000;
const FILL_AGAIN_MS = 8_000;

export interface AgentTurnQueueDeps {
  readonly stream: AudioStream;
  readonly conversations: Pick<ConversationEngine, 'runTurn'>;
  readonly session: NewSession;
  readonly source: SpeechSynthesis;
  readonly clock: Clock;
  /** Tag of the language of the talk, as it is now. */
  readonly language: () => string;
  /** What to say where the pathway says nothing. */
  readonly ownWords: (input: TurnInput, isLast: boolean) => string | undefined;
  /** What to say while an answer takes long. */
  readonly waitWords: () => string;
  readonly onPlace: (place: CurrentNode) => void;
  /** @throws {CallwayError} `session_ended` when it is not the session that the talk began with. */
  readonly onSession: (session: Session) => void;
  /** The first sample of an answer went out. */
  readonly onSounding: () => void;
  readonly onAnswered: () => void;
  /** A turn failed, and another one follows by itself. */
  readonly onRethinking: () => void;
  /** The talk is over: the call is to be hung up, or was handed over. */
  readonly onOver: (how: VoiceReport['outcome']) => void;
  /** What the caller said, and no turn can keep: the session has ended. */
  readonly onSaidLate: (said: readonly ExternalMessage[]) => void;
  /** A piece of an answer could not be said by anyone. */
  readonly onSpeechFailure: (error: unknown) => void;
  /** The agent has sounded in a turn that is over now. */
  readonly onTurn?: ((turn: SpokenTurn) => void) | undefined;
  /** Absent where nobody could go on with a talk. */
  readonly noting?: TurnCheckpoints | undefined;
  readonly onError: (error: unknown, what: string) => void;
}

/** Takes the agent's turns, one after the other, and sees to what comes of each. */
export class AgentTurnQueue {
  readonly #deps: AgentTurnQueueDeps;
  readonly turns: SpokenTurn[] = [];
  bargeIns = 0;
  #turn: AgentTurn | undefined;
  #speech: AgentSpeech | undefined;
  #answering: TurnInput['kind'] | undefined;
  /** Of the newest turn that is wanted; one that still waits for the turn before it may be wanted no more. */
  #ticket = 0;
  /** What that one answers, while it waits. */
  #waiting: TurnInput | undefined;
  #nodeId: string | null = null;
  /** What the caller said in turns that did not come to begin. */
  #unkept: ExternalMessage[] = [];
  /** Those of them that the turn under way is to keep. */
  #before: readonly ExternalMessage[] = [];
  /** What the turn under way is taken of, once that is known. */
  #session: Session | undefined;
  #last: Promise<unknown> | undefined;
  /** Words that are set aside are being recognised. */
  #aside: Promise<void> = Promise.resolve();
  /** No turn can be kept in it any more. */
  #hasSessionEnded = false;
  #marks = 0;
  /** Since when nothing of the answer sounds, or waits to be spoken. */
  #drySinceMs: number | undefined;
  /** When words of our own last covered the wait for the answer's. */
  #filledAtMs: number | undefined;
  #isClosed = false;

  constructor(deps: AgentTurnQueueDeps) {
    this.#deps = deps;
  }

  /** What the turn answers that is under way, or about to be. */
  get answering(): TurnInput['kind'] | undefined {
    return this.#answering;
  }

  /** Resolves when the last turn is kept. */
  get settled(): Promise<unknown> {
    return this.#last ?? this.#turn?.done ?? Promise.resolve();
  }

  /**
   * Takes a turn once the one before is kept.
   *
   * @param how.isLast - The agent hangs up after it, unless the pathway has something to say.
   * @param how.said - Words of the caller's before it, for the history.
   */
  async take(
    input: TurnInput,
    moments: TurnTimestamps,
    { isLast = false, said = '' }: { readonly isLast?: boolean; readonly said?: string } = {},
  ): Promise<void> {
    this.#ticket += 1;
    const ticket = this.#ticket;
    this.#answering = input.kind;
    this.#dropWaiting();
    if (said !== '') this.#unkept.push({ role: 'user', content: said });
    this.#waiting = input;
    await this.#turn?.done;
    if (this.#isClosed || ticket !== this.#ticket) return;
    this.#waiting = undefined;
    const turn = this.#start(input, moments, isLast);
    const result = await this.#resultOf(turn);
    if (this.#isClosed) return;
    if (result.how === 'failed') await this.#afterFailure(turn, result.error);
    else this.#after(turn, result, isLast);
  }

  hold(): void {
    this.#speech?.hold();
  }

  resume(): void {
    this.#speech?.resume();
  }

  cut(): void {
    this.#turn?.cut();
  }

  /** The call is taken from the agent: what was heard until now stands. */
  leave(): void {
    this.#ticket += 1;
    this.#dropWaiting();
    this.#turn?.leave();
  }

  /** What the caller said, and nobody will answer, is kept with what is kept next. @param words - Never rejects. */
  setAside(words: Promise<string>): void {
    const before = this.#aside;
    this.#aside = (async () => {
      await before;
      const content = await words;
      if (content !== '') this.#unkept.push({ role: 'user', content });
    })();
  }

  takeBack(): void {
    this.#ticket += 1;
    this.#waiting = undefined;
    this.#turn?.takeBack();
  }

  /** Covers a long wait for the answer's words, or for more of them, and again where it takes longer. */
  #coverWait(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (!this.#speech?.isDry) this.#drySinceMs = undefined;
    else this.#drySinceMs ??= nowMs;
    const turn = this.#turn;
    if (!turn || this.#drySinceMs === undefined || UNFILLED.has(turn.input.kind)) return;
    if (nowMs - this.#drySinceMs < FILL_AFTER_MS) return;
    if (this.#filledAtMs !== undefined && nowMs - this.#filledAtMs < FILL_AGAIN_MS) return;
    this.#filledAtMs = nowMs;
    turn.fill(this.#deps.waitWords());
  }

  /** What sounded in the caller's last frame; undefined for silence. */
  lastPlayed(): Int16Array | undefined {
    return this.#speech?.lastPlayed();
  }

  onMark(mark: AudioStreamEvents['mark']): void {
    this.#speech?.onMark(mark);
  }

  onCleared(position: AudioStreamEvents['cleared']): void {
    this.#speech?.onCleared(position);
  }

  /** @param isHeld - The other side plays nothing for now. */
  onTick(isHeld: boolean): void {
    if (isHeld) this.#speech?.onHeldTick();
    else this.#speech?.onTick();
    if (isHeld) this.#drySinceMs = undefined;
    else this.#coverWait();
    const [turn, session] = [this.#turn, this.#session];
    if (turn && session) this.#deps.noting?.tick(session.instanceId, () => this.#noteOf(turn, session));
  }

  /**
   * The stream is gone. Idempotent.
   *
   * @param words - What the caller said last, if no turn has taken it. Never rejects.
   */
  close(words: Promise<string>, moments: TurnTimestamps): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#dropWaiting();
    this.#turn?.leave();
    this.#speech?.onClosed();
    this.#last = this.#keepLast(words, moments);
  }

  /** Nobody answers it any more, but it was said. */
  async #keepLast(words: Promise<string>, moments: TurnTimestamps): Promise<void> {
    await this.#aside;
    const text = await words;
    await this.#turn?.done;
    if (text === '' && this.#unkept.length === 0) return;
    if (!this.#hasSessionEnded) {
      const { error } = await this.#resultOf(this.#start({ kind: 'last_words', text }, moments, false));
      if (!isSessionEnded(error)) return;
    }
    // It has ended, by the agent or over its head; what was said in the call is in its history all the same.
    const last: ExternalMessage = { role: 'user', content: text };
    this.#deps.onSaidLate(text === '' ? this.#unkept.splice(0) : [...this.#unkept.splice(0), last]);
  }

  /** A turn that waited is not to be; what the caller said for it stays said. */
  #dropWaiting(): void {
    if (this.#waiting) this.#unkept.push(...saidIn(this.#waiting));
    this.#waiting = undefined;
  }

  async #resultOf(turn: AgentTurn): Promise<AgentTurnResult> {
    const result = await turn.done;
    this.#note(turn, result);
    if (this.#session) this.#deps.noting?.over(this.#session.instanceId);
    this.#session = undefined;
    return result;
  }

  #noteOf({ input }: AgentTurn, { turn }: Session): TurnCheckpoint {
    const said = input.kind === 'words' ? input.text : input.kind === 'dtmf' ? input.digits : '';
    const at = new Date(this.#deps.clock.now()).toISOString();
    return { turn, at, nodeId: this.#nodeId, said, heard: this.#speech?.heardText() ?? '' };
  }

  #start(input: TurnInput, moments: TurnTimestamps, isLast: boolean): AgentTurn {
    const { stream, source, clock } = this.#deps;
    const speech = createAgentSpeech({
      stream,
      source,
      voice: { language: this.#deps.language() },
      nowMs: () => clock.monotonicMs(),
      nextMark: () => `callway-${++this.#marks}`,
      onSpeech: () => {
        moments.firstSpeechAtMs = clock.monotonicMs();
      },
      onSounding: ({ receivedSamples, bufferDelayMs }) => {
        moments.soundedStreamMs = (receivedSamples * 1000) / stream.info.sampleRateHz;
        moments.bufferDelayMs = bufferDelayMs;
        this.#deps.onSounding();
      },
      onFailure: this.#deps.onSpeechFailure,
    });
    this.#speech = speech;
    this.#drySinceMs = undefined;
    this.#filledAtMs = undefined;
    const { ownWords } = this.#deps;
    this.#before = this.#unkept.splice(0);
    const request = {
      input,
      moments,
      history: this.#before,
      ownWords: () => ownWords(input, isLast),
    };
    const onPlace = (place: CurrentNode) => {
      this.#nodeId = place.node.id;
      this.#deps.onPlace(place);
    };
    const onSession = (session: Session) => {
      this.#deps.onSession(session);
      this.#session = session;
    };
    const turn = startAgentTurn({ ...this.#deps, speech, onPlace, onSession }, request);
    this.#turn = turn;
    return turn;
  }

  #note({ input }: AgentTurn, { how, isKept, latency }: AgentTurnResult): void {
    // Words of a turn that was taken back come again, with what the caller added.
    const said = how === 'taken_back' ? [] : saidIn(input);
    if (!isKept) this.#unkept.unshift(...this.#before, ...said);
    if (how === 'cut') this.bargeIns += 1;
    if (!latency) return;
    const isAnswer = input.kind === 'words' || input.kind === 'dtmf';
    const spoken = { kind: input.kind, interrupted: how === 'cut', ...(isAnswer ? latency : {}) };
    this.turns.push(spoken);
    this.#deps.onTurn?.(spoken);
  }

  #after(turn: AgentTurn, result: AgentTurnResult, isLast: boolean): void {
    const { input } = turn;
    if (result.ended !== null) this.#hasSessionEnded = true;
    const isAnswered = result.how === 'answered';
    const isHandedOver = isAnswered && this.#act(result);
    const isGivenUp =
      (input.kind === 'failure' && !result.saidAnything) ||
      (input.kind === 'notice' && input.code === AGENT_FAILED);
    const isOver =
      result.ended !== null || isGivenUp || input.kind === 'voicemail' || (isLast && !result.saidAnything);
    if (isHandedOver) this.#deps.onOver('transferred');
    else if (isOver) this.#deps.onOver(isGivenUp ? 'failed' : 'hung_up');
    else if (isAnswered && this.#turn === turn) this.#deps.onAnswered();
  }

  /** @returns Whether the call was handed over. */
  #act({ actions }: AgentTurnResult): boolean {
    for (const action of actions) this.#deps.stream.command(action);
    return actions.some(({ kind }) => kind === 'transfer');
  }

  /** The pathway's fallback is tried, then an apology is said; nobody is left in silence. */
  async #afterFailure({ input, moments }: AgentTurn, error: unknown): Promise<void> {
    if (isSessionEnded(error)) {
      this.#hasSessionEnded = true;
      this.#deps.onOver('hung_up');
      return;
    }
    this.#deps.onError(error, 'a turn failed');
    if (input.kind === 'notice') {
      this.#deps.onOver('failed');
      return;
    }
    this.#deps.onRethinking();
    const message = error instanceof CallwayError ? error.message : 'The turn failed';
    const next: TurnInput =
      input.kind === 'failure' ? { kind: 'notice', code: AGENT_FAILED, message } : { kind: 'failure' };
    await this.take(next, { ...moments });
  }
}

function isSessionEnded(error: unknown): boolean {
  return error instanceof CallwayError && error.code === SESSION_ENDED;
}

function saidIn(input: TurnInput): readonly ExternalMessage[] {
  if (input.kind === 'words') return [{ role: 'user', content: input.text }];
  return input.kind === 'dtmf' ? [{ role: 'user', content: input.digits }] : [];
}
