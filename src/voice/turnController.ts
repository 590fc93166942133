import { switchedLanguage } from '../agents/speech/language.ts';
import { withTimeout } from '../base/async/withTimeout.ts';
import type { Clock } from '../base/values/clock.ts';
import type { AudioStream } from '../conversation/streams/audioStream.ts';
import { isBackchannel } from '../conversation/turnDetection/backchannel.ts';
import { joined, unansweredText } from '../conversation/turnDetection/callerTurn.ts';
import type { CallerTurn } from '../conversation/turnDetection/endpointing.ts';
import { TurnRunner } from '../conversation/turnDetection/turnRunner.ts';
import type { TurnPolicy, TurnSettings } from '../conversation/turnDetection/turnSettings.ts';
import type {
  TurnContext,
  TurnEffect,
  TurnEvent,
  TurnPhase,
  TurnSignal,
  TurnState,
} from '../conversation/turnDetection/turnState.ts';
import type { AgentTurnQueue } from '../conversation/turns/agentTurnQueue.ts';
import { createRetrievalPrefetch, type RetrievalPrefetch } from '../conversation/turns/retrievalPrefetch.ts';
import type { TurnTimestamps } from '../conversation/turns/turnLatency.ts';
import type { TurnInput } from '../engine/turn/turn.ts';
import { ModelError } from '../models/ports/modelError.ts';
import type { Transcript } from '../models/ports/speechToText.ts';
import type { SpeechRecognition } from './recognition/speechRecognition.ts';
import type { AgentSpeech } from './speech/agentSpeech.ts';

/** The inputs to which a caller expects an answer. */
const ANSWERED: ReadonlySet<TurnInput['kind']> = new Set(['user_message', 'dtmf']);
/** A screening service pauses between its sentences, and does not hear an answer in between. */
const SCREENING_PAUSE_MS = 1200;
/** The transcript of the last utterance is waited for this long once the call is over. */
const LAST_TRANSCRIPT_TIMEOUT_MS = 5000;

export interface TurnControllerDeps {
  readonly stream: AudioStream;
  readonly settings: TurnSettings;
  readonly recognition: SpeechRecognition;
  readonly speechToText: { readonly name: string };
  readonly agentTurns: AgentTurnQueue<AgentSpeech>;
  /** Whether the session stores what the caller says: not before it exists, nor an answering machine's words. */
  readonly isCallerStored: () => boolean;
  /** Whether these words are what call screening asks. */
  readonly isScreening: (text: string) => boolean;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}

/** Takes what is heard of a caller on an audio stream into the turn state machine, and performs its effects. */
export class TurnController {
  readonly #deps: TurnControllerDeps;
  readonly #prefetch: RetrievalPrefetch;
  readonly #turns: TurnRunner;
  /** The present; on the stream's clock, as the next two. */
  #nowMs: number;
  #lastVoicedMs: number;
  /** The start of the last utterance; undefined before the first. */
  #firstVoicedMs: number | undefined;
  /** The peer plays nothing of the agent. */
  isOnHold = false;
  #isPaused = false;
  /** The caller spoke last, while the agent was paused. */
  hasUnansweredWords = false;
  /** The timestamps of the caller's ended turn, while its transcript is pending. */
  #timestamps: TurnTimestamps | undefined;
  falseInterruptions = 0;
  /** Words that a transcript only stands for. */
  #late: { readonly text: string; readonly words: Promise<string> } | undefined;
  /** The language of the last transcript. A backchannel is recognized in any language. */
  #language: string | undefined;

  constructor(deps: TurnControllerDeps) {
    this.#deps = deps;
    const { stream, settings, clock } = deps;
    this.#nowMs = (stream.receivedSamples * 1000) / stream.info.sampleRateHz;
    this.#lastVoicedMs = this.#nowMs;
    this.#turns = new TurnRunner({
      settings,
      context: () => this.#context(),
      onStep: (state, before) => {
        if (!before.isEndOfTurn) this.#timestamps = state.isEndOfTurn ? this.timestamps() : undefined;
      },
      perform: (effect) => this.#perform(effect),
    });
    this.#prefetch = createRetrievalPrefetch(clock, (text) => settings.node?.prefetchRetrieval?.(text));
  }

  get phase(): TurnPhase {
    return this.#state.phase;
  }

  get #state(): TurnState {
    return this.#turns.state;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get lastVoicedMs(): number {
    return this.#lastVoicedMs;
  }

  /** A frame of the caller was received. @param atMs - Its end on the stream's clock. */
  advanceTo(atMs: number): void {
    const { utterance, speechEndMs } = this.#deps.recognition;
    this.#nowMs = atMs;
    if (utterance) {
      this.#firstVoicedMs = utterance.startMs;
      this.#lastVoicedMs = speechEndMs ?? utterance.lastVoicedMs;
    }
    this.#deps.agentTurns.onFrame(this.isOnHold);
  }

  /** Detects turns with the frame that {@link advanceTo} announced. */
  onFrame(): void {
    this.#turns.onFrame();
  }

  onInterimTranscript(text: string): void {
    this.#prefetch.onInterimTranscript(unansweredText({ ...this.#state, transcript: text }));
  }

  onTranscript({ text, language, late }: Transcript): void {
    if (late) this.#late = { text, words: late };
    this.#language = this.#isBackchannel(text) ? undefined : language;
    if (this.#timestamps) this.#timestamps.transcriptAtMs = this.#deps.clock.monotonicMs();
    this.dispatch({ type: 'transcript', text, isBackchannel: this.#isBackchannel(text) });
    // Empty unless the caller's turn continues.
    this.#prefetch.onTranscript(unansweredText(this.#state));
  }

  onTurnSignal(signal: TurnSignal): void {
    this.#deps.settings.learnTurnEvents();
    this.dispatch({ type: 'turn_signal', signal });
  }

  onDigit(digit: string): void {
    this.#turns.onDigit(digit);
  }

  /** Pauses or resumes the agent. While it is paused, the caller's words are stored and get no answer. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.dispatch({ type: 'agent_stopped' });
  }

  /** Starts a turn of the agent without an event of the caller. */
  startTurn(input: TurnInput): void {
    this.dispatch({ type: 'agent_turn_started' });
    void this.#deps.agentTurns.run(input, this.timestamps(this.#nowMs));
  }

  dispatch(event: TurnEvent): void {
    this.#turns.dispatch(event);
  }

  timestamps(lastVoicedMs = this.#lastVoicedMs): TurnTimestamps {
    const { receivedSamples, info } = this.#deps.stream;
    // Two frames may arrive together: the end of turn is detected when they arrive, not when the first was spoken.
    const endpointStreamMs = Math.max(this.#nowMs, (receivedSamples * 1000) / info.sampleRateHz);
    const firstVoicedMs = this.#firstVoicedMs;
    return { lastVoicedMs, firstVoicedMs, endpointStreamMs, endpointAtMs: this.#deps.clock.monotonicMs() };
  }

  /** Closes the open utterance and returns what the caller said and no turn answers. Never rejects. */
  async takeUnansweredText(): Promise<string> {
    const { recognition, isCallerStored, clock, onError } = this.#deps;
    const state = this.#state;
    if (!isCallerStored() || state.phase === 'suspended') return '';
    const { keptText } = state;
    const voicedMs = recognition.utterance?.voicedMs ?? 0;
    let { transcript = '' } = state;
    const transcribed = recognition.takeTranscript().then(
      (text) => {
        transcript = text;
      },
      (error: unknown) => onError(error, 'transcription of the last utterance failed'),
    );
    await withTimeout(clock, transcribed, LAST_TRANSCRIPT_TIMEOUT_MS);
    if (state.phase === 'listening') return unansweredText({ ...state, transcript });
    const isListening = state.phase === 'speaking' && this.#isBackchannel(transcript, voicedMs);
    return joined(keptText, isListening ? '' : transcript);
  }

  /** Waits for words whose transcript is late. Never rejects. */
  async #awaitLateWords(): Promise<void> {
    const { recognition, onError } = this.#deps;
    const [saidMs, lastVoicedMs] = [this.#firstVoicedMs, this.#lastVoicedMs];
    try {
      const text = await recognition.takeTranscript();
      const waitedMs = Math.round(this.#nowMs - lastVoicedMs);
      const late = `The recognizer answered ${waitedMs} ms after the caller's last word`;
      onError(new ModelError('model_unavailable', late), 'speech recognition late');
      if (text !== '' && this.#firstVoicedMs === saidMs) this.dispatch({ type: 'late_words', text });
    } catch (error) {
      onError(error, 'speech recognition failed');
    }
  }

  #isBackchannel(text: string, voicedMs = this.#deps.recognition.utterance?.voicedMs ?? 0): boolean {
    return isBackchannel(text, voicedMs, this.#deps.settings.language);
  }

  #context(): TurnContext {
    const { recognition, settings, agentTurns } = this.#deps;
    return {
      atMs: this.#nowMs,
      utterance: recognition.utterance,
      isSpeechOnset: recognition.isSpeechOnset,
      policy: this.#policy(),
      endpointingDelayMs: (turn) => this.#endpointingDelayMs(turn),
      requestAfterMs: settings.requestAfterMs,
      preemptAfterMs: (turn) => (this.#isPaused ? undefined : settings.preemptAfterMs(turn)),
      answering: agentTurns.answering,
      isOnHold: this.isOnHold || this.#isPaused,
      isPaused: this.#isPaused,
    };
  }

  #policy(): TurnPolicy {
    const { settings, agentTurns } = this.#deps;
    const policy = settings.policyWhile(agentTurns.speech?.interruptionPolicy);
    return agentTurns.answering === 'disclosure' ? { ...policy, interruptible: false } : policy;
  }

  #endpointingDelayMs(turn: CallerTurn): number {
    const { settings, isScreening } = this.#deps;
    const delayMs = settings.endpointingDelayMs(turn);
    return isScreening(turn.transcript ?? '') ? Math.max(delayMs, SCREENING_PAUSE_MS) : delayMs;
  }

  #perform(effect: TurnEffect): void {
    const { recognition, settings, agentTurns } = this.#deps;
    switch (effect.type) {
      case 'request_transcript':
        recognition.requestTranscript();
        break;
      case 'await_late_words':
        void this.#awaitLateWords();
        break;
      case 'discard_utterance':
        recognition.discardUtterance();
        break;
      case 'caller_continued':
        settings.learnPause(effect.pauseMs, effect.transcript);
        recognition.cancelRequest();
        break;
      case 'endpointed_too_early':
        settings.learnEarlyEndpoint(effect.pauseMs);
        break;
      case 'keep_unanswered':
        agentTurns.keepUnanswered(this.takeUnansweredText());
        break;
      case 'hold_agent':
      case 'pause_agent':
        agentTurns.speech?.playout.pause();
        break;
      case 'release_agent':
        agentTurns.speech?.playout.resume();
        break;
      case 'resume_agent':
        this.falseInterruptions += 1;
        agentTurns.speech?.playout.resume();
        break;
      case 'interrupt_agent':
        agentTurns.interrupt();
        break;
      case 'stop_agent':
        agentTurns.stop();
        break;
      case 'cancel_turn':
        agentTurns.cancel();
        break;
      case 'start_preemptive_turn':
        agentTurns.prepare(this.#spokenInput(effect.input), this.timestamps());
        break;
      case 'cancel_preemptive_turn':
        agentTurns.cancelPrepared();
        break;
      case 'commit_preemptive_turn':
        agentTurns.commit(this.#spokenInput(effect.input), this.#timestamps ?? this.timestamps());
        break;
      case 'start_turn': {
        const timestamps = this.#timestampsOf(effect.input);
        if (!this.#isPaused) this.hasUnansweredWords = false;
        else if (ANSWERED.has(effect.input.kind)) this.hasUnansweredWords = true;
        if (this.#isPaused) agentTurns.store(this.#spokenInput(effect.input), effect.unansweredText);
        else void agentTurns.run(this.#spokenInput(effect.input), timestamps, effect);
      }
    }
  }

  #spokenInput(input: TurnInput): TurnInput {
    if (input.kind !== 'user_message') return input;
    const { isScreening, speechToText } = this.#deps;
    return {
      ...input,
      speech: { recognition: speechToText.name },
      late: this.#lateWords(input.text),
      language: this.#switchedLanguage(),
      isScreening: isScreening(input.text) || undefined,
    };
  }

  /** The words that a text will have; undefined where it has them. */
  #lateWords(text: string): Promise<string> | undefined {
    const late = this.#late;
    if (!late || !text.includes(late.text)) return undefined;
    return late.words.then((words) => (words === '' ? text : text.replace(late.text, () => words)));
  }

  /** The language that the caller has switched to; undefined when the conversation stays in its language. */
  #switchedLanguage(): string | undefined {
    const { node } = this.#deps.settings;
    return node && this.#language !== undefined ? switchedLanguage(this.#language, node) : undefined;
  }

  /** The latency of an answer to DTMF digits counts from the last digit. */
  #timestampsOf({ kind }: TurnInput): TurnTimestamps {
    if (kind === 'dtmf') return this.timestamps(this.#turns.lastDigitMs);
    const timestamps = this.#timestamps ?? this.timestamps();
    // Where the recognizer gives none in time, the wait for the transcript ends now.
    return { ...timestamps, transcriptAtMs: timestamps.transcriptAtMs ?? this.#deps.clock.monotonicMs() };
  }
}
