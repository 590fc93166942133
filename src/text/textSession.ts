import { UsageTally } from '../agents/cost/usage.ts';
import { switchedLanguage } from '../agents/speech/language.ts';
import type { Clock, Timer } from '../base/values/clock.ts';
import { STREAM_RESUMED } from '../conversation/speech/fallbackPhrases.ts';
import type { TextStream } from '../conversation/streams/textStream.ts';
import { unansweredText } from '../conversation/turnDetection/callerTurn.ts';
import { TurnRunner } from '../conversation/turnDetection/turnRunner.ts';
import { TurnSettings } from '../conversation/turnDetection/turnSettings.ts';
import type { TurnContext, TurnEffect } from '../conversation/turnDetection/turnState.ts';
import { AgentTurnQueue } from '../conversation/turns/agentTurnQueue.ts';
import { hasWords } from '../conversation/turns/recognizedWords.ts';
import { SessionHistory, type SessionHistoryDeps } from '../conversation/turns/sessionHistory.ts';
import type { SessionOutcome } from '../conversation/turns/sessionOutcome.ts';
import { TurnCheckpoints } from '../conversation/turns/turnCheckpoints.ts';
import type { SpokenTurn, TurnTimestamps } from '../conversation/turns/turnLatency.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { TurnCheckpointStore } from '../engine/session/interruptedTurn.ts';
import type { NewSession } from '../engine/session/session.ts';
import type { TurnInput } from '../engine/turn/turn.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { CallCommand } from '../media/agentStream/streamClient.ts';
import { GatewayLanguage } from './gatewayLanguage.ts';
import { TextSpeech } from './textSpeech.ts';

/** The interval at which timeouts are checked. */
const TICK_MS = 100;
/** The gateway ends its session this soon after it was told to. */
const END_TIMEOUT_MS = 5000;

const BEGIN: TurnInput = { kind: 'begin' };
const RESUME: TurnInput = {
  kind: 'channel_error',
  code: STREAM_RESUMED,
  message: 'The stream was lost; the session continues on another one',
};

/** What turn detection asks of audio. */
const NO_AUDIO = {
  utterance: undefined,
  isSpeechOnset: false,
  endpointingDelayMs: () => 0,
  requestAfterMs: 0,
  preemptAfterMs: () => undefined,
  isPaused: false,
};

export interface TextSessionDeps extends SessionHistoryDeps {
  readonly stream: TextStream;
  readonly engine: ConversationEngine;
  /** Stores running turns, so that another node can recover them; undefined for a customer's bot. */
  readonly checkpoints?: TurnCheckpointStore | undefined;
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
  readonly #tally = new UsageTally();
  readonly #language: GatewayLanguage;
  readonly #agentTurns: AgentTurnQueue<TextSpeech>;
  readonly #turns: TurnRunner;
  #tick: Timer | undefined;
  #endTimer: Timer | undefined;
  /** The language of the last words. */
  #spokenLanguage: string | undefined;
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
      tally: this.#tally,
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
      dispatch: (event) => this.#turns.dispatch(event),
      onSessionOver: (outcome) => this.#onSessionOver(outcome),
    });
    this.#turns = new TurnRunner({
      settings: this.#settings,
      context: (isOnHold) => this.#context(isOnHold),
      perform: (effect) => this.#perform(effect),
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
      events.on('dtmf', ({ digit }) => this.#turns.onDigit(digit)),
      events.on('interrupted', ({ heard, heardMs }) =>
        this.#turns.dispatch({ type: 'gateway_interrupted', heard: { text: heard, ms: heardMs } }),
      ),
      events.on('played', ({ text }) => this.#agentTurns.speech?.onPlayed(text)),
      events.on('silent', () => this.#agentTurns.speech?.assumePlayed()),
      events.on('fault', ({ message }) => this.#onFault(message)),
      events.on('closed', () => this.#onClosed()),
    ];
    void this.#agentTurns.run(this.#options.isResumed ? RESUME : BEGIN, this.#timestamps());
    this.#scheduleTick();
    await closed;
    this.#tick?.cancel();
    this.#endTimer?.cancel();
    await this.#agentTurns.settled;
    for (const cleanup of cleanups) cleanup();
    this.#history.addUsage(this.#tally);
  }

  #onWords(text: string, language: string | undefined, isFinal: boolean): void {
    if (this.#isOver || !hasWords(text)) return;
    this.#language.heard(language);
    this.#spokenLanguage = language;
    this.#turns.dispatch(isFinal ? { type: 'finished_text', text } : { type: 'partial_text' });
    if (!isFinal) this.#publishInterim(text);
  }

  /** @param isOnHold - The caller enters digits: this is no silence. */
  #context(isOnHold: boolean): TurnContext {
    const { policy } = this.#settings;
    const { answering, speech } = this.#agentTurns;
    return { ...NO_AUDIO, atMs: this.#nowMs, policy, answering, isOnHold, gateway: { answer: speech } };
  }

  #perform(effect: TurnEffect): void {
    const turns = this.#agentTurns;
    switch (effect.type) {
      case 'assume_played':
        turns.speech?.assumePlayed();
        break;
      case 'interrupt_agent':
        if (effect.heard) turns.speech?.interruptedAt(effect.heard);
        turns.interrupt();
        break;
      case 'cancel_turn':
        turns.cancel();
        break;
      case 'start_turn':
        void turns.run(this.#spokenInput(effect.input), this.#timestamps(effect.input), effect);
        break;
      default: // concerns audio
    }
  }

  #spokenInput(input: TurnInput): TurnInput {
    if (input.kind !== 'user_message') return input;
    const { node } = this.#settings;
    const spoken = this.#spokenLanguage;
    const language = node && spoken !== undefined ? switchedLanguage(spoken, node) : undefined;
    return { ...input, speech: { recognition: this.#deps.stream.info.provider }, language };
  }

  #onFault(message: string): void {
    this.#deps.onError(new Error(message), 'the gateway reports an error');
    this.#history.addEvent('error', { code: 'stream_error', message });
  }

  #scheduleTick(): void {
    this.#tick = this.#deps.clock.setTimer(() => {
      this.#agentTurns.onFrame(false);
      this.#turns.onFrame();
      if (!this.#isClosed) this.#scheduleTick();
    }, TICK_MS);
  }

  #onCommand(command: CallCommand): void {
    if (command.kind === 'send_dtmf') this.#deps.stream.sendDigits(command.digits);
    if (command.kind === 'transfer')
      this.#end({ reasonCode: 'transfer', to: command.to, ...command.options });
  }

  #onSessionOver(outcome: SessionOutcome): void {
    if (outcome !== 'transferred') this.#end({ reasonCode: outcome === 'failed' ? 'error' : 'hangup' });
  }

  #end(handoff: Readonly<Record<string, unknown>>): void {
    if (this.#isOver) return;
    this.#turns.dispatch({ type: 'session_ending' });
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
    this.#agentTurns.close(Promise.resolve(unansweredText(this.#turns.state)), this.#timestamps());
    this.#turns.dispatch({ type: 'session_ending' });
    this.#resolveClosed();
  }

  #publishInterim(text: string): void {
    const { projectId, sessionId } = this.#deps.stream.info;
    const subject = { projectId, sessionId, release: this.#agentTurns.session?.release };
    this.#deps.liveEvents?.publish({ ...subject, type: 'transcript.interim', data: { text } });
  }

  /** The gateway does not say when the caller stopped: the latency counts from its message. */
  #timestamps({ kind } = BEGIN): TurnTimestamps {
    const atMs = this.#nowMs;
    const lastVoicedMs = kind === 'dtmf' ? this.#turns.lastDigitMs : atMs;
    return { lastVoicedMs, endpointStreamMs: atMs, endpointAtMs: atMs };
  }

  get #isOver(): boolean {
    return this.#turns.state.phase === 'ended';
  }

  get #nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }
}
