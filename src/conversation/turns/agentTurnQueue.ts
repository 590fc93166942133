import { CallwayError } from '../../base/errors.ts';
import type { TurnCheckpoint } from '../../engine/session/interruptedTurn.ts';
import type { MessageSpeech, Session } from '../../engine/session/session.ts';
import type { TurnInput } from '../../engine/turn/turn.ts';
import type { AnswerSpeech } from '../speech/answerSpeech.ts';
import { AGENT_FAILED } from '../speech/fallbackPhrases.ts';
import type { AudioStream } from '../streams/audioStream.ts';
import type { TurnEvent } from '../turnDetection/turnState.ts';
import { AgentTurn, type AgentTurnDeps, type AgentTurnResult } from './agentTurn.ts';
import type { Disclosures } from './disclosures.ts';
import type { SessionHistory } from './sessionHistory.ts';
import { isSessionEnded, outcomeAfter, SESSION_ENDED, type SessionOutcome } from './sessionOutcome.ts';
import type { TurnCheckpoints } from './turnCheckpoints.ts';
import type { SpokenTurn, TurnTimestamps } from './turnLatency.ts';
import { callerMessages, UnansweredMessages } from './unansweredMessages.ts';

/** Runs a turn that only stores what was said before. */
export const NOTHING_SAID: TurnInput = { kind: 'unanswered_message', text: '' };

export interface AgentTurnQueueDeps<Speech extends AnswerSpeech>
  extends Omit<AgentTurnDeps<Speech>, 'onSession' | 'onStartedSpeaking' | 'onSpeechFailure'> {
  readonly stream: Pick<AudioStream, 'command'>;
  readonly history: SessionHistory;
  readonly onSession?: (session: Session) => void;
  readonly speechToText: { readonly name: string };
  /** Takes what happens to the agent's turns into turn detection. */
  readonly dispatch: (event: TurnEvent) => void;
  /** The agent hangs up or transfers the call. */
  readonly onSessionOver: (outcome: SessionOutcome) => void;
  /** A turn in which the agent was heard has ended. */
  readonly onSpokenTurn?: ((turn: SpokenTurn) => void) | undefined;
  /** Stores running turns, so that another node can recover them; undefined for a customer's bot. */
  readonly checkpoints?: TurnCheckpoints | undefined;
  /** What goes before the pathway; undefined where there is none. */
  readonly disclosures?: Disclosures | undefined;
  readonly onError: (error: unknown, message: string) => void;
}

/** A turn that was started before the caller's end was sure. */
interface PreparedTurn<Speech extends AnswerSpeech> {
  /** The language that the caller has switched to. */
  readonly language: string | undefined;
  /** The turn; undefined while the turn before it is stored. */
  turn: AgentTurn<Speech> | undefined;
  /** The end of the caller's turn, once it is sure. */
  committed: TurnTimestamps | undefined;
}

/** Runs the agent's turns one at a time. A queued turn replaces the one queued before it. */
export class AgentTurnQueue<Speech extends AnswerSpeech = AnswerSpeech> {
  readonly #deps: AgentTurnQueueDeps<Speech>;
  readonly spokenTurns: SpokenTurn[] = [];
  interruptions = 0;
  /** Names the recognizer of the caller's words. */
  readonly #callerSpeech: () => MessageSpeech;
  readonly #unanswered: UnansweredMessages;
  /** The session as the latest turn found it; undefined until the first one has. */
  session: Session | undefined;
  #turn: AgentTurn<Speech> | undefined;
  /** The running turn has found its session. */
  #isOnSession = false;
  #answering: TurnInput['kind'] | undefined;
  /** The preemptive turn, until it is committed or cancelled. */
  #prepared: PreparedTurn<Speech> | undefined;
  /** A preemptive turn was cancelled since the last turn. */
  #hasCanceledPrepared = false;
  /** Number of the latest turn; a queued turn with an older number is dropped. */
  #latest = 0;
  /** The input of the queued turn. */
  #queued: TurnInput | undefined;
  #lastTurn: Promise<unknown> | undefined;
  #hasSessionEnded = false;
  #isClosed = false;

  constructor(deps: AgentTurnQueueDeps<Speech>) {
    this.#deps = deps;
    this.#callerSpeech = () => ({ recognition: deps.speechToText.name });
    this.#unanswered = new UnansweredMessages(this.#callerSpeech);
  }

  /** The input kind of the running or queued turn. */
  get answering(): TurnInput['kind'] | undefined {
    return this.#answering;
  }

  /** The newest answer's speech. */
  get speech(): Speech | undefined {
    return this.#turn?.speech;
  }

  /** The turn that is due once neither side speaks; undefined for none. */
  get waiting(): TurnInput | undefined {
    return this.#deps.disclosures?.waiting;
  }

  /** Resolves once the last turn is stored. */
  get settled(): Promise<unknown> {
    return this.#lastTurn ?? this.#turn?.done ?? Promise.resolve();
  }

  /**
   * Runs a turn once the one before it is stored.
   *
   * @param options.isLast - The agent hangs up after it, unless the pathway says something.
   * @param options.unansweredText - What the caller said before, for the history.
   */
  async run(
    input: TurnInput,
    timestamps: TurnTimestamps,
    options: { readonly isLast?: boolean; readonly unansweredText?: string } = {},
  ): Promise<void> {
    const { isLast = false, unansweredText = '' } = options;
    this.cancelPrepared();
    this.#latest += 1;
    this.#dropQueued();
    this.#unanswered.add(unansweredText);
    const preemptive = this.#hasCanceledPrepared ? ('canceled' as const) : undefined;
    this.#hasCanceledPrepared = false;
    const next = this.#deps.disclosures?.before(input) ?? input;
    await this.#runNext(next, { ...timestamps, preemptive }, isLast && next === input, undefined);
  }

  /** Starts a preemptive turn: nothing of it is played or kept before {@link commit}. */
  prepare(input: TurnInput, timestamps: TurnTimestamps): void {
    this.cancelPrepared();
    // The turn of the pathway's begin may be due in its place.
    if (this.#deps.disclosures?.waiting) return;
    this.#latest += 1;
    this.#prepared = { language: languageOf(input), turn: undefined, committed: undefined };
    void this.#runNext(input, timestamps, false, this.#prepared);
  }

  /** The caller has finished: the preemptive turn is their answer. Where it has failed, the turn runs anew. */
  commit(input: TurnInput, timestamps: TurnTimestamps): void {
    const prepared = this.#prepared;
    // The same words may turn out to be of another language.
    if (!prepared || prepared.language !== languageOf(input)) {
      void this.run(input, timestamps);
      return;
    }
    this.#prepared = undefined;
    this.#hasCanceledPrepared = false;
    prepared.committed = { ...timestamps, preemptive: 'committed' };
    prepared.turn?.commit(prepared.committed);
  }

  /** The caller has continued: the preemptive turn leaves no trace. Idempotent. */
  cancelPrepared(): void {
    const prepared = this.#prepared;
    if (!prepared) return;
    this.#prepared = undefined;
    this.#hasCanceledPrepared = true;
    this.#latest += 1;
    this.#queued = undefined;
    prepared.turn?.cancel();
  }

  async #runNext(
    input: TurnInput,
    timestamps: TurnTimestamps,
    isLast: boolean,
    prepared: PreparedTurn<Speech> | undefined,
  ): Promise<void> {
    const number = this.#latest;
    this.#answering = input.kind;
    this.#queued = input;
    await this.#turn?.done;
    if (this.#isClosed || number !== this.#latest) return;
    this.#queued = undefined;
    const { turn, result } = await this.#runTurn(input, timestamps, isLast, prepared);
    if (this.#prepared === prepared) this.#prepared = undefined;
    if (this.#isClosed) return;
    if (result.outcome === 'failed') await this.#onFailed(turn, result.error);
    else this.#onEnded(turn, result, isLast);
  }

  /** The caller interrupts: the answer is truncated to what was heard. */
  interrupt(): void {
    this.#turn?.interrupt();
  }

  /** The agent loses the call: the answer is truncated to what was heard, without an interruption. */
  stop(): void {
    this.#latest += 1;
    this.#dropQueued();
    this.#turn?.stop();
  }

  /** Cancels a turn of which nothing was heard. */
  cancel(): void {
    this.#latest += 1;
    this.#queued = undefined;
    this.#turn?.cancel();
  }

  /** Stores what the caller said and no turn answers with the next turn. @param text - Never rejects. */
  keepUnanswered(text: Promise<string>): void {
    this.#unanswered.addWhenTranscribed(text);
  }

  /** Stores what the caller says in this input without an answer. */
  store(input: TurnInput, unansweredText = ''): void {
    this.#unanswered.add(unansweredText);
    this.#unanswered.addInput(input);
    if (input.kind === 'not_understood')
      this.#deps.history.addEvent('not_understood', { why: input.why, count: input.count });
    const at = this.#deps.clock.monotonicMs();
    void this.run(NOTHING_SAID, { lastVoicedMs: 0, endpointStreamMs: 0, endpointAtMs: at });
  }

  /** Tells the model with the next turn, and from then on. @param number - The number of an instruction that may be told again. */
  addInstruction(text: string, number?: number): void {
    this.#unanswered.addInstruction(text, number);
  }

  /** Call with each frame of the caller. @param isOnHold - The peer plays nothing. */
  onFrame(isOnHold: boolean): void {
    const [turn, session] = [this.#turn, this.session];
    turn?.onFrame(isOnHold);
    if (turn && session && this.#isOnSession && !turn.isUncommitted)
      this.#deps.checkpoints?.onFrame(session.instanceId, () => this.#checkpointOf(turn, session));
  }

  /**
   * The stream has closed. Idempotent.
   *
   * @param lastText - What the caller said last and no turn answers. Never rejects.
   */
  close(lastText: Promise<string>, timestamps: TurnTimestamps): void {
    if (this.#isClosed) return;
    this.cancelPrepared();
    this.#isClosed = true;
    this.#dropQueued();
    const { waiting } = this.#deps.disclosures ?? {};
    if (waiting) this.#unanswered.addInput(waiting);
    this.#turn?.stop();
    this.#turn?.speech.onClosed();
    this.#lastTurn = this.#storeLastText(lastText, timestamps);
  }

  async #storeLastText(lastText: Promise<string>, timestamps: TurnTimestamps): Promise<void> {
    await this.#unanswered.settled;
    const text = await lastText;
    await this.#turn?.done;
    if (text === '' && this.#unanswered.isEmpty) return;
    if (!this.#hasSessionEnded) {
      const input = { kind: 'unanswered_message', text, speech: this.#callerSpeech() } as const;
      const { result } = await this.#runTurn(input, timestamps, false);
      if (!isSessionEnded(result.error)) return;
    }
    // The session has ended: the history takes the messages without a turn.
    this.#unanswered.add(text);
    const messages = this.#unanswered.takeAll();
    this.#deps.history.addMessages(messages);
    const words = messages.flatMap(({ role, content }) => (role === 'user' && content) || []);
    const { engine, onError } = this.#deps;
    const failed = (error: unknown) => onError(error, 'last words not searched for an opt-out');
    if (this.session) void engine.heardAfterEnd?.(this.session, words).catch(failed);
  }

  #dropQueued(): void {
    if (this.#queued) this.#unanswered.addInput(this.#queued);
    this.#queued = undefined;
  }

  async #runTurn(
    input: TurnInput,
    timestamps: TurnTimestamps,
    isLast: boolean,
    prepared?: PreparedTurn<Speech>,
  ): Promise<{ readonly turn: AgentTurn<Speech>; readonly result: AgentTurnResult }> {
    const history = this.#unanswered.takeAll();
    const committed = prepared?.committed;
    const isPreemptive = prepared !== undefined && committed === undefined;
    let isWhole = true;
    const turn = new AgentTurn(
      {
        ...this.#deps,
        onSession: (session) => this.#onSession(session),
        onStartedSpeaking: () => this.#deps.dispatch({ type: 'agent_started_speaking' }),
        onSpeechFailure: (error) => {
          isWhole = false;
          this.#onSpeechFailure(error);
        },
        onDisclosed: (id) => isWhole && this.#deps.onDisclosed?.(id),
      },
      { input, history, timestamps: committed ?? timestamps, isLast, isPreemptive },
    );
    this.#turn = turn;
    if (prepared) prepared.turn = turn;
    const result = await turn.done;
    // A cancelled turn's text comes again, together with what the caller added.
    const said = result.outcome === 'cancelled' ? [] : callerMessages(input);
    if (!result.isStored) this.#unanswered.putBack([...history, ...said]);
    this.#countSpoken(input, result);
    if (this.session && this.#isOnSession) this.#deps.checkpoints?.onTurnEnded(this.session.instanceId);
    this.#isOnSession = false;
    return { turn, result };
  }

  #checkpointOf({ input, speech }: AgentTurn<Speech>, { turn }: Session): TurnCheckpoint {
    const { settings, clock } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    const [said] = callerMessages(input);
    return {
      turn,
      at,
      // Disclosures precede the first node, whose settings hold.
      nodeId: input.kind === 'disclosure' ? null : (settings.node?.node.id ?? null),
      said: said?.content ?? '',
      heard: speech.heardText(),
      speech: { ...said?.speech, synthesis: speech.provider },
    };
  }

  #onSession(session: Session): void {
    const { instanceId } = session;
    if (this.session && instanceId !== this.session.instanceId)
      throw new CallwayError('gone', SESSION_ENDED, 'The session has ended');
    this.#deps.history.onSession(instanceId);
    this.#deps.onSession?.(session);
    this.session = session;
    this.#isOnSession = true;
  }

  #countSpoken({ kind }: TurnInput, { outcome, latency }: AgentTurnResult): void {
    const interrupted = outcome === 'interrupted';
    if (interrupted) this.interruptions += 1;
    if (!latency) return;
    const isAnswer = kind === 'user_message' || kind === 'dtmf';
    const spoken = { kind, interrupted, ...(isAnswer ? latency : {}) };
    this.spokenTurns.push(spoken);
    this.#deps.onSpokenTurn?.(spoken);
  }

  #onEnded(turn: AgentTurn<Speech>, result: AgentTurnResult, isLast: boolean): void {
    const { input } = turn;
    const { outcome, hasText, ended, actions } = result;
    if (ended !== null) this.#hasSessionEnded = true;
    // Nothing can be said to the last words of a channel that gives up.
    const isFinal = isLast && !hasText && outcome !== 'stopped';
    const isCompleted = outcome === 'completed' || isFinal;
    if (isCompleted) for (const action of actions) this.#deps.stream.command(action);
    const isTransferred = isCompleted && actions.some(({ kind }) => kind === 'transfer');
    const isGivenUp =
      (input.kind === 'failure' && !hasText) ||
      (input.kind === 'channel_error' && input.code === AGENT_FAILED);
    const isOver = ended !== null || isGivenUp || input.kind === 'voicemail' || isFinal;
    if (isTransferred) this.#deps.onSessionOver('transferred');
    else if (isOver)
      this.#deps.onSessionOver(isGivenUp ? 'failed' : outcomeAfter(input, isFinal && ended === null));
    else if (isCompleted && this.#turn === turn) this.#onCompleted(turn);
  }

  #onCompleted({ input, timestamps }: AgentTurn<Speech>): void {
    const { disclosures } = this.#deps;
    if (input.kind === 'disclosure') disclosures?.skip();
    const next = input.kind === 'disclosure' ? disclosures?.following : undefined;
    if (!next) {
      this.#deps.dispatch({ type: 'agent_turn_ended' });
      return;
    }
    this.#deps.dispatch({ type: 'agent_turn_started' });
    void this.run(next, { ...timestamps });
  }

  #onSpeechFailure(error: unknown): void {
    this.#deps.onError(error, 'speech synthesis failed');
    const message = error instanceof CallwayError ? error.message : 'Speech synthesis failed';
    this.#deps.history.addEvent('error', { code: 'speech_failed', message });
  }

  /** Runs the pathway's fallback; when that fails too, an apology. */
  async #onFailed({ input, timestamps }: AgentTurn<Speech>, error: unknown): Promise<void> {
    if (isSessionEnded(error)) {
      this.#hasSessionEnded = true;
      this.#deps.onSessionOver('hung_up');
      return;
    }
    this.#deps.onError(error, 'agent turn failed');
    if (input.kind === 'disclosure') this.#deps.disclosures?.skip();
    if (input.kind === 'channel_error') {
      this.#deps.onSessionOver('failed');
      return;
    }
    this.#deps.dispatch({ type: 'agent_turn_started' });
    const message = error instanceof CallwayError ? error.message : 'The turn failed';
    const next: TurnInput =
      input.kind === 'failure' ? { kind: 'channel_error', code: AGENT_FAILED, message } : { kind: 'failure' };
    await this.run(next, { ...timestamps });
  }
}

function languageOf(input: TurnInput): string | undefined {
  return input.kind === 'user_message' ? input.language : undefined;
}
