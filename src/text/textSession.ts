import { switchedLanguage } from '../agents/speech/language.ts';
import { CallwayError } from '../base/errors.ts';
import type { Clock, Timer } from '../base/values/clock.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import { STREAM_RESUMED } from '../conversation/speech/fallbackPhrases.ts';
import type { TextStream } from '../conversation/streams/textStream.ts';
import {
  checkDigitTimeout,
  type DtmfEntry,
  type DtmfEntryStep,
  enterDigit,
} from '../conversation/turnDetection/dtmf.ts';
import { silenceTurn } from '../conversation/turnDetection/silence.ts';
import { TurnSettings } from '../conversation/turnDetection/turnSettings.ts';
import type { TurnEvent } from '../conversation/turnDetection/turnState.ts';
import { AgentTurnQueue, SESSION_ENDED, type SessionOutcome } from '../conversation/turns/agentTurnQueue.ts';
import { hasWords } from '../conversation/turns/recognizedWords.ts';
import { SessionHistory, type SessionHistoryDeps } from '../conversation/turns/sessionHistory.ts';
import { TurnCheckpoints } from '../conversation/turns/turnCheckpoints.ts';
import type { SpokenTurn, TurnTimestamps } from '../conversation/turns/turnLatency.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { TurnCheckpointStore } from '../engine/session/interruptedTurn.ts';
import type { NewSession, Session } from '../engine/session/session.ts';
import type { TurnInput } from '../engine/turn/turn.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { CallCommand } from '../media/agentStream/streamClient.ts';
import { GatewayLanguage } from './gatewayLanguage.ts';
import { TextSpeech } from './textSpeech.ts';

/** The interval at which timeouts are checked. */
const TICK_MS = 100;
/** The gateway ends its session this soon after it was told to. */
const END_TIMEOUT_MS = 5000;
/** A caller who stopped an answer that had not begun, and says nothing more, still waits for it. */
const CONTINUE_AFTER_MS = 2000;

const BEGIN: TurnInput = { kind: 'begin' };
const RESUME: TurnInput = {
  kind: 'channel_error',
  code: STREAM_RESUMED,
  message: 'The stream was lost; the session continues on another one',
};

export interface TextSessionDeps extends SessionHistoryDeps {
  readonly stream: TextStream;
  readonly engine: Pick<ConversationEngine, 'runTurn'>;
  /** Stores running turns, so that another node can recover them; undefined for a customer's bot. */
  readonly checkpoints?: Pick<TurnCheckpointStore, 'put' | 'drop'> | undefined;
  readonly clock: Clock;
  readonly onSpokenTurn?: ((turn: SpokenTurn) => void) | undefined;
  readonly liveEvents?: LiveEvents | undefined;
}

export interface TextSessionOptions {
  readonly session: NewSession;
  /** The agent has spoken in this session on a stream that was lost. */
  readonly isResumed: boolean;
}

/** A conversation with a gateway that recognizes and speaks itself: turns of the agent, without audio. */
export class TextSession {
  readonly #deps: TextSessionDeps;
  readonly #options: TextSessionOptions;
  readonly #settings: TurnSettings;
  readonly #history: SessionHistory;
  readonly #language: GatewayLanguage;
  readonly #agentTurns: AgentTurnQueue<TextSpeech>;
  #tick: Timer | undefined;
  #endTimer: Timer | undefined;
  #entry: DtmfEntry | undefined;
  #lastDigitMs = 0;
  /** A turn of the agent runs, or is being spoken. */
  #isAgentTurn = false;
  /** What the running turn answers; the next words are added to it where the turn is cancelled. */
  #answered = '';
  /** What a cancelled turn was about. */
  #carried: { readonly text: string; readonly atMs: number } | undefined;
  /** When both sides fell silent. */
  #idleSinceMs = 0;
  /** Start of a silence that the agent has reprompted in. */
  #silentSinceMs: number | undefined;
  #silences = 0;
  #instanceId = '';
  #isOver = false;
  #isClosed = false;
  #resolveClosed: () => void = () => undefined;

  constructor(deps: TextSessionDeps, options: TextSessionOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#history = new SessionHistory(deps);
    this.#language = new GatewayLanguage((tag) => deps.stream.useLanguage(tag));
    this.#settings = new TurnSettings({ isStreaming: true, detectsTurns: true }, ({ language }) =>
      this.#language.speak(language),
    );
    const { engine, clock, onError, onSpokenTurn, checkpoints: store } = deps;
    this.#agentTurns = new AgentTurnQueue({
      ...{ engine, clock, onError, onSpokenTurn },
      checkpoints: store && new TurnCheckpoints({ store, clock, onError }),
      session: options.session,
      variables: deps.stream.info.customParameters,
      settings: this.#settings,
      history: this.#history,
      stream: { command: (command) => this.#onCommand(command) },
      speechToText: { name: deps.stream.info.provider },
      openSpeech: (events) => {
        const nowMs = () => clock.monotonicMs();
        const languageTag = (language: string | undefined) => this.#language.tagOf(language);
        return new TextSpeech({ ...events, stream: deps.stream, nowMs, languageTag });
      },
      dispatch: (event) => this.#onTurnEvent(event),
      onSession: (session) => this.#onSession(session),
      onSessionOver: (outcome) => this.#onSessionOver(outcome),
    });
  }

  /** Runs until the stream is closed. Never rejects. */
  async run(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#resolveClosed = resolve;
    });
    const { events } = this.#deps.stream;
    const cleanups = [
      events.on('words', ({ text, language, isFinal }) => this.#onWords(text, language, isFinal)),
      events.on('dtmf', ({ digit }) => this.#onDigit(digit)),
      events.on('interrupted', ({ heard, heardMs }) => this.#onInterrupted(heard, heardMs)),
      events.on('played', ({ text }) => this.#agentTurns.speech?.onPlayed(text)),
      events.on('silent', () => this.#agentTurns.speech?.assumePlayed()),
      events.on('fault', ({ message }) => this.#onFault(message)),
      events.on('closed', () => this.#onClosed()),
    ];
    this.#startTurn(this.#options.isResumed ? RESUME : BEGIN);
    this.#scheduleTick();
    await closed;
    this.#tick?.cancel();
    this.#endTimer?.cancel();
    await this.#agentTurns.settled;
    for (const cleanup of cleanups) cleanup();
  }

  #onWords(text: string, language: string | undefined, isFinal: boolean): void {
    if (this.#isOver || !hasWords(text)) return;
    this.#idleSinceMs = this.#nowMs;
    this.#language.heard(language);
    if (!isFinal) {
      this.#publishInterim(text);
      return;
    }
    this.#silences = 0;
    this.#silentSinceMs = undefined;
    this.#endAgentTurn();
    this.#answer([this.#takeCarried(), text].filter((part) => part !== '').join(' '), language);
  }

  #answer(text: string, spoken?: string): void {
    const { node } = this.#settings;
    const language = node && spoken !== undefined ? switchedLanguage(spoken, node) : undefined;
    const speech = { recognition: this.#deps.stream.info.provider };
    this.#startTurn({ kind: 'user_message', text, speech, ...omitUndefined({ language }) });
    this.#answered = text;
  }

  #onDigit(digit: string): void {
    if (this.#isOver) return;
    this.#idleSinceMs = this.#nowMs;
    this.#lastDigitMs = this.#nowMs;
    this.#silentSinceMs = undefined;
    this.#onEntry(enterDigit(this.#entry, digit, this.#nowMs, this.#settings.node?.digits ?? []));
  }

  #onEntry({ entry, complete }: DtmfEntryStep): void {
    this.#entry = entry;
    if (complete === undefined) return;
    this.#silences = 0;
    this.#endAgentTurn();
    this.#startTurn({ kind: 'dtmf', digits: complete }, { unansweredText: this.#takeCarried() });
  }

  /** The caller answers without having interrupted, as far as the gateway says. */
  #endAgentTurn(): void {
    const { speech, answering } = this.#agentTurns;
    if (!this.#isAgentTurn || !speech) return;
    if (speech.isFinished) speech.assumePlayed();
    else if (!speech.hasBegun && answering === 'user_message') this.#cancelTurn();
    else if (speech.hasBegun && speech.isInterruptible) this.#agentTurns.interrupt();
  }

  #onInterrupted(heard: string, heardMs: number | undefined): void {
    const { speech, answering } = this.#agentTurns;
    if (this.#isOver || !this.#isAgentTurn || !speech?.hasBegun) return;
    this.#isAgentTurn = false;
    this.#idleSinceMs = this.#nowMs;
    if (heard.trim() === '' && answering === 'user_message') this.#cancelTurn();
    else {
      speech.interruptedAt(heard, heardMs);
      this.#agentTurns.interrupt();
    }
  }

  /** Cancels a turn of whose answer nothing was heard; its input is added to the caller's next words. */
  #cancelTurn(): void {
    this.#carried = { text: this.#answered, atMs: this.#nowMs };
    this.#isAgentTurn = false;
    this.#agentTurns.cancel();
  }

  #takeCarried(): string {
    const text = this.#carried?.text ?? '';
    this.#carried = undefined;
    return text;
  }

  #onFault(message: string): void {
    this.#deps.onError(new Error(message), 'the gateway reports an error');
    this.#history.addEvent('error', { code: 'stream_error', message });
  }

  #scheduleTick(): void {
    this.#tick = this.#deps.clock.setTimer(() => {
      this.#onTick();
      if (!this.#isClosed) this.#scheduleTick();
    }, TICK_MS);
  }

  #onTick(): void {
    this.#agentTurns.onFrame(false);
    if (this.#isOver) return;
    this.#onEntry(checkDigitTimeout(this.#entry, this.#nowMs));
    if (this.#isAgentTurn) return;
    if (this.#carried === undefined) {
      if (!this.#entry) this.#checkSilence();
    } else if (this.#nowMs - this.#carried.atMs >= CONTINUE_AFTER_MS) this.#answer(this.#takeCarried());
  }

  #checkSilence(): void {
    const state = {
      sinceMs: this.#idleSinceMs,
      silentSinceMs: this.#silentSinceMs,
      silences: this.#silences,
    };
    const due = silenceTurn(state, this.#settings.policy, this.#nowMs);
    if (!due) return;
    this.#silences += 1;
    this.#silentSinceMs = due.endsSilence ? undefined : (this.#silentSinceMs ?? this.#idleSinceMs);
    this.#startTurn(due.input, { isLast: due.isLast });
  }

  #startTurn(input: TurnInput, options: { isLast?: boolean; unansweredText?: string } = {}): void {
    this.#isAgentTurn = true;
    this.#answered = '';
    void this.#agentTurns.run(input, this.#timestamps(input), options);
  }

  #onTurnEvent({ type }: TurnEvent): void {
    if (type === 'agent_turn_started') this.#isAgentTurn = true;
    if (type !== 'agent_turn_ended') return;
    this.#isAgentTurn = false;
    this.#idleSinceMs = this.#nowMs;
  }

  #onCommand(command: CallCommand): void {
    if (command.kind === 'send_dtmf') this.#deps.stream.sendDigits(command.digits);
    if (command.kind === 'transfer')
      this.#end({ reasonCode: 'transfer', to: command.to, ...command.options });
  }

  #onSession({ instanceId }: Session): void {
    if (this.#instanceId !== '' && instanceId !== this.#instanceId)
      throw new CallwayError('gone', SESSION_ENDED, 'The session has ended');
    this.#instanceId = instanceId;
    this.#history.onSession(instanceId);
  }

  #onSessionOver(outcome: SessionOutcome): void {
    if (outcome !== 'transferred') this.#end({ reasonCode: outcome === 'failed' ? 'error' : 'hangup' });
  }

  #end(handoff: Readonly<Record<string, unknown>>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { stream, clock } = this.#deps;
    stream.end({ ...handoff, sessionId: stream.info.sessionId });
    this.#endTimer = clock.setTimer(() => {
      stream.close(1000, 'the agent has ended the session');
      this.#onClosed();
    }, END_TIMEOUT_MS);
  }

  #onClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isOver = true;
    this.#agentTurns.close(Promise.resolve(this.#takeCarried()), this.#timestamps());
    this.#resolveClosed();
  }

  #publishInterim(text: string): void {
    const { projectId, sessionId } = this.#deps.stream.info;
    this.#deps.liveEvents?.publish({ projectId, sessionId, type: 'transcript.interim', data: { text } });
  }

  /** The gateway does not say when the caller stopped: the latency counts from its message. */
  #timestamps({ kind }: Pick<TurnInput, 'kind'> = BEGIN): TurnTimestamps {
    const atMs = this.#nowMs;
    return {
      lastVoicedMs: kind === 'dtmf' ? this.#lastDigitMs : atMs,
      endpointStreamMs: atMs,
      endpointAtMs: atMs,
    };
  }

  get #nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }
}
