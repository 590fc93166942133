import { CallwayError } from '../base/errors.ts';
import { createWatchdog, type Watchdog } from '../base/watchdog.ts';
import { withTimeout } from '../base/withTimeout.ts';
import type { Session } from '../engine/session/session.ts';
import type { TurnInput } from '../engine/turn/turn.ts';
import type { TransferStatus } from '../media/agentStream/streamClient.ts';
import {
  type AnsweringMachineDetector,
  createAnsweringMachineDetector,
} from './answeringMachine/answeringMachineDetector.ts';
import { createSpeechRecognition, type SpeechRecognition } from './recognition/speechRecognition.ts';
import { STREAM_RESUMED } from './speech/fallbackPhraseFor.ts';
import { fallbackPhrasesOf } from './speech/fallbackPhrases.ts';
import { isBackchannel } from './turnDetection/backchannel.ts';
import { type DtmfEntry, enterDigit, waitForDigits } from './turnDetection/dtmfEntry.ts';
import { untakenWords } from './turnDetection/onTranscript.ts';
import { TurnSettings } from './turnDetection/turnSettings.ts';
import {
  INITIAL_TURN_STATE,
  type TurnContext,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
} from './turnDetection/turnState.ts';
import { turnTransition } from './turnDetection/turnTransition.ts';
import { AgentTurnQueue, SESSION_ENDED } from './turns/agentTurnQueue.ts';
import { createHistoryNotes, type HistoryNotes } from './turns/historyNotes.ts';
import { createPrefetchRetrieval, type PrefetchRetrieval } from './turns/prefetchRetrieval.ts';
import { createTurnCheckpoints } from './turns/turnCheckpoints.ts';
import type { TurnTimestamps } from './turns/turnLatency.ts';
import type { VoiceReport } from './voiceReport.ts';
import type { VoiceSessionDeps, VoiceSessionOptions } from './voiceSessionDeps.ts';

/** Words that are still to be recognised when the caller has hung up are waited for so long. */
const LAST_WORDS_MS = 5000;
/** For the other side to close the stream after it was told to hang up. */
const CLOSE_WAIT_MS = 5000;
/** Audio comes without gaps, silence included: a stream that brings none for so long is gone, whatever it says. */
const LOST_STREAM_MS = 30_000;
const RESUMED: TurnInput = {
  kind: 'notice',
  code: STREAM_RESUMED,
  message: 'The stream of the talk was lost; it goes on over another one',
};
/** A side that does not tell how it goes has handed the call over by then; or it has not, and its caller hears silence. */
const UNTOLD_TRANSFER_MS = 45_000;
/** Longer than any phone rings that a caller is transferred to; for an outcome that got lost. */
const TRANSFER_MS = 180_000;

/** One call's talk, from the agent's first word to the stream's end: does what the floor's machine wants done. */
export class VoiceSession {
  readonly #deps: VoiceSessionDeps;
  readonly #ear: SpeechRecognition;
  readonly #agent: AgentTurnQueue;
  readonly #watch: AnsweringMachineDetector | undefined;
  readonly #notes: HistoryNotes;
  readonly #searchAhead: PrefetchRetrieval;
  readonly #manners: TurnSettings;
  readonly #unlisten: (() => void)[] = [];
  readonly #lifeline: Watchdog;
  readonly #resumes: boolean;
  #floor: TurnState = INITIAL_TURN_STATE;
  /** On the stream's clock. */
  #nowMs = 0;
  #lastVoicedMs = 0;
  #lastKeyMs = 0;
  /** The caller has put us on hold, and hears nothing. */
  #isOnHold = false;
  /** Of the caller's turn that is over, while its words are still waited for. */
  #moments: TurnTimestamps | undefined;
  /** The session's life that the talk belongs to; empty until the session is made. */
  #instanceId = '';
  #keypad: DtmfEntry | undefined;
  #falseStops = 0;
  /** When it is given up, on the stream's clock; undefined while the call is the agent's. */
  #handingOverUntilMs: number | undefined;
  #how: VoiceReport['outcome'] = 'closed';
  #finish: () => void = () => undefined;
  #isClosed = false;

  constructor(
    deps: VoiceSessionDeps,
    { session, language, detectAnsweringMachine: watchForMachines, isResumed: resumes }: VoiceSessionOptions,
  ) {
    this.#deps = deps;
    this.#resumes = resumes;
    this.#manners = new TurnSettings(language);
    const { sampleRateHz } = deps.stream.info;
    this.#watch = watchForMachines ? createAnsweringMachineDetector(sampleRateHz) : undefined;
    this.#notes = createHistoryNotes(deps);
    this.#lifeline = createWatchdog(deps.clock, LOST_STREAM_MS, () => this.#close('no audio comes any more'));
    this.#nowMs = (deps.stream.receivedSamples * 1000) / sampleRateHz;
    this.#lastVoicedMs = this.#nowMs;
    this.#searchAhead = createPrefetchRetrieval(deps.clock, (words) =>
      this.#manners.place?.prefetchRetrieval?.(words),
    );
    this.#ear = createSpeechRecognition({
      sampleRateHz,
      startSamples: deps.stream.receivedSamples,
      detector: deps.activity.open(sampleRateHz),
      speechToText: deps.speechToText,
      played: () => this.#agent.lastPlayed(),
      hints: () => ({ language: this.#manners.language, expectedAnswers: this.#manners.expectedAnswers }),
      onFrame: (frame, atMs) => this.#onFrame(frame, atMs),
      onPartial: (text) => this.#searchAhead.onPartial(untakenWords({ ...this.#floor, words: text })),
      onWords: (text) => this.#onWords(text),
      onWordsFailed: (error) => this.#onWordsFailed(error),
    });
    this.#agent = new AgentTurnQueue({
      ...deps,
      session,
      noting: deps.turnNotes && createTurnCheckpoints({ ...deps, notes: deps.turnNotes }),
      language: () => this.#manners.language,
      ownWords: (input, isLast) => this.#manners.ownWords(input, isLast),
      waitWords: () => fallbackPhrasesOf(this.#manners.language).moment,
      onPlace: (place) => this.#manners.enter(place),
      onSession: (found) => this.#onSession(found),
      onSounding: () => this.#dispatch({ type: 'sounding' }),
      onAnswered: () => this.#dispatch({ type: 'answered' }),
      onRethinking: () => this.#dispatch({ type: 'rethinking' }),
      onOver: (how) => this.#onOver(how),
      onSaidLate: (said) => this.#notes.addSaid(said),
      onSpeechFailure: (error) => this.#onSpeechFailure(error),
    });
  }

  /** Talks until the stream is closed. Never rejects. */
  async run(): Promise<VoiceReport> {
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const { events } = this.#deps.stream;
    this.#unlisten.push(
      events.on('audio', (samples) => this.#ear.push(samples)),
      events.on('dtmf', ({ digit }) => this.#onKey(digit)),
      events.on('hold', ({ isHeld }) => {
        this.#isOnHold = isHeld;
      }),
      events.on('mark', (mark) => this.#agent.onMark(mark)),
      events.on('cleared', (position) => this.#agent.onCleared(position)),
      events.on('transfer', (progress) => this.#onTransfer(progress)),
      events.on('closed', () => this.#onClosed()),
    );
    this.#lifeline.start();
    void this.#agent.take(this.#resumes ? RESUMED : { kind: 'begin' }, this.#momentsNow());
    await finished;
    this.#lifeline.close();
    await this.#agent.settled;
    this.#ear.close();
    for (const unlisten of this.#unlisten) unlisten();
    const { turns, bargeIns } = this.#agent;
    const answeredBy = this.#watch?.verdict ?? 'unknown';
    return {
      outcome: this.#how,
      answeredBy,
      turns,
      interruptions: bargeIns,
      falseInterruptions: this.#falseStops,
    };
  }

  #onFrame(frame: Int16Array, atMs: number): void {
    this.#nowMs = atMs;
    this.#lifeline.start();
    const { utterance } = this.#ear;
    if (utterance) this.#lastVoicedMs = this.#ear.voiceEndMs ?? utterance.lastVoicedMs;
    this.#agent.onTick(this.#isOnHold);
    this.#watchMachine(frame);
    this.#watchTransfer();
    const keys = waitForDigits(this.#keypad, atMs);
    this.#keypad = keys.state;
    if (keys.complete !== undefined) this.#dispatch({ type: 'keys', digits: keys.complete });
    this.#dispatch({ type: 'frame' });
  }

  #onWords(text: string): void {
    if (this.#isClosed) return;
    if (this.#moments) this.#moments.wordsAtMs = this.#deps.clock.monotonicMs();
    const voicedMs = this.#ear.utterance?.voicedMs ?? 0;
    this.#noteMachine(this.#watch?.onWords(text, voicedMs));
    this.#dispatch({
      type: 'words',
      text,
      isAcknowledgement: isBackchannel(text, voicedMs, this.#manners.language),
    });
    // Where the turn is not over yet, only more words are waited for.
    this.#searchAhead.onWords(untakenWords(this.#floor));
  }

  #onWordsFailed(error: unknown): void {
    if (this.#isClosed) return;
    this.#deps.onError(error, 'speech was not recognised');
    const message = error instanceof CallwayError ? error.message : 'The recogniser failed';
    this.#dispatch({ type: 'words_failed', message });
  }

  #onSpeechFailure(error: unknown): void {
    this.#deps.onError(error, 'a piece of an answer was not spoken');
    const message = error instanceof CallwayError ? error.message : 'The speaker failed';
    this.#notes.add('error', { code: 'speech_failed', message });
  }

  #onKey(digit: string): void {
    this.#lastKeyMs = this.#nowMs;
    this.#dispatch({ type: 'key' });
    const step = enterDigit(this.#keypad, digit, this.#nowMs, this.#manners.place?.digits ?? []);
    this.#keypad = step.state;
    if (step.complete !== undefined) this.#dispatch({ type: 'keys', digits: step.complete });
  }

  #onOver(how: VoiceReport['outcome']): void {
    this.#how = how;
    if (how === 'transferred') {
      this.#agent.setAside(this.#lastWords());
      this.#handingOverUntilMs ??= this.#nowMs + UNTOLD_TRANSFER_MS;
      this.#dispatch({ type: 'handing_over', isByAgent: true });
      return;
    }
    this.#dispatch({ type: 'ending' });
    this.#deps.stream.command({ kind: 'hangup' });
    const timer = this.#deps.clock.setTimer(() => this.#close('the agent has hung up'), CLOSE_WAIT_MS);
    this.#unlisten.push(() => timer.cancel());
  }

  #close(reason: string): void {
    this.#deps.stream.close(1000, reason);
    this.#onClosed();
  }

  #onClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#agent.close(this.#lastWords(), this.#momentsNow());
    this.#dispatch({ type: 'ending' });
    this.#finish();
  }

  /** What the caller said and no turn has taken, also where it is not recognised yet. */
  async #lastWords(): Promise<string> {
    const floor = this.#floor;
    const voicedMs = this.#ear.utterance?.voicedMs ?? 0;
    // Without a session that it knows of, there is none to keep anything in; nor is a machine the caller.
    if (this.#instanceId === '' || floor.phase === 'waiting' || this.#watch?.verdict === 'machine') return '';
    let { words = '' } = floor;
    const heard = this.#ear.lastWords().then(
      (text) => {
        words = text;
      },
      (error: unknown) => this.#deps.onError(error, 'a caller’s last words were not recognised'),
    );
    await withTimeout(this.#deps.clock, heard, LAST_WORDS_MS);
    if (floor.phase === 'hearing') return untakenWords({ ...floor, words });
    const isListening = floor.phase === 'speaking' && isBackchannel(words, voicedMs, this.#manners.language);
    return isListening ? '' : words;
  }

  #dispatch(event: TurnEvent): void {
    const wasEnded = this.#floor.isEnded;
    const { state, effects } = turnTransition(this.#floor, event, this.#context());
    this.#floor = state;
    if (state.isEnded && !wasEnded) this.#moments = this.#momentsNow();
    for (const effect of effects) this.#perform(effect);
  }

  #context(): TurnContext {
    return {
      atMs: this.#nowMs,
      utterance: this.#ear.utterance,
      mayBegin: this.#ear.mayBegin,
      policy: this.#manners.policy,
      endPauseMs: () => this.#manners.endPauseMs(this.#floor.words),
      answering: this.#agent.answering,
      isOnHold: this.#isOnHold,
    };
  }

  #perform(effect: TurnEffect): void {
    switch (effect.type) {
      case 'ask_words':
        this.#ear.ask();
        break;
      case 'went_on':
        this.#manners.learnPause(effect.pauseMs);
        this.#moments = undefined;
        this.#ear.dropQuestion();
        break;
      case 'was_too_soon':
        this.#manners.learnTooSoon(effect.pauseMs);
        break;
      case 'forget_utterance':
        this.#ear.forget();
        break;
      case 'set_aside':
        this.#agent.setAside(this.#lastWords());
        break;
      case 'hold':
        this.#agent.hold();
        break;
      case 'resume':
        this.#falseStops += 1;
        this.#agent.resume();
        break;
      case 'cut':
        this.#agent.cut();
        break;
      case 'leave':
        this.#agent.leave();
        break;
      case 'take_back':
        this.#agent.takeBack();
        break;
      case 'take_turn': {
        const moments = this.#momentsOf(effect.input);
        this.#moments = undefined;
        void this.#agent.take(effect.input, moments, effect);
      }
    }
  }

  #momentsNow(lastVoicedMs = this.#lastVoicedMs): TurnTimestamps {
    const { receivedSamples, info } = this.#deps.stream;
    // Frames may come two at a time: it is sure when they are here, not when the first of them was spoken.
    const endedStreamMs = Math.max(this.#nowMs, (receivedSamples * 1000) / info.sampleRateHz);
    return { lastVoicedMs, endedStreamMs, endedAtMs: this.#deps.clock.monotonicMs() };
  }

  /** Of the turn that is over now: an answer to keys is counted from the last of them. */
  #momentsOf({ kind }: TurnInput): TurnTimestamps {
    if (kind === 'dtmf') return this.#momentsNow(this.#lastKeyMs);
    return this.#moments ?? this.#momentsNow();
  }

  #onSession({ instanceId, state }: Session): void {
    if (this.#instanceId !== '' && instanceId !== this.#instanceId) {
      throw new CallwayError('gone', SESSION_ENDED, 'The session has ended');
    }
    this.#instanceId = instanceId;
    this.#notes.know(instanceId);
    const { language } = state.variables;
    if (typeof language === 'string' && language !== '') this.#manners.language = language;
  }

  #onTransfer(progress: TransferStatus): void {
    if (progress.status === 'begun') {
      const isByAgent = this.#handingOverUntilMs !== undefined;
      this.#handingOverUntilMs = this.#nowMs + TRANSFER_MS;
      this.#how = 'transferred';
      if (!isByAgent) this.#agent.setAside(this.#lastWords());
      this.#dispatch({ type: 'handing_over', isByAgent });
    } else if (this.#handingOverUntilMs !== undefined) {
      const { to, reason } = progress;
      this.#goOn({ kind: 'transfer_failed', to, reason });
    }
  }

  /** What was to be handed over, and was not, goes the pathway's fallback, or ends with an apology. */
  #watchTransfer(): void {
    if (this.#handingOverUntilMs === undefined || this.#nowMs < this.#handingOverUntilMs) return;
    this.#goOn({ kind: 'failure' });
  }

  /** The call is the agent's again. */
  #goOn(input: TurnInput): void {
    this.#handingOverUntilMs = undefined;
    this.#how = 'closed';
    this.#dispatch({ type: 'rethinking' });
    void this.#agent.take(input, this.#momentsNow(this.#nowMs));
  }

  #watchMachine(frame: Int16Array): void {
    const watch = this.#watch;
    if (!watch) return;
    this.#noteMachine(watch.onFrame(frame, this.#ear.utterance, this.#nowMs));
    const isWaiting = this.#floor.phase === 'waiting' && this.#handingOverUntilMs === undefined;
    const evidence = isWaiting ? watch.recordsBy(this.#nowMs, this.#lastVoicedMs) : undefined;
    if (evidence !== undefined) this.#dispatch({ type: 'recording', evidence });
  }

  #noteMachine(kind: 'machine' | 'screening' | undefined): void {
    if (kind === 'machine') {
      this.#manners.forbidInterruption();
      this.#dispatch({ type: 'machine' });
    }
    if (kind === 'screening') this.#notes.add('answering_machine', { kind, evidence: this.#watch?.evidence });
  }
}
