import type { Clock, Timer } from '../../base/values/clock.ts';
import type { Utterance } from '../../conversation/turnDetection/speechActivity.ts';
import type { TurnSignal } from '../../conversation/turnDetection/turnState.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { Transcript } from '../../models/ports/speechToText.ts';
import type {
  RecognitionConnection,
  RecognitionConnectionOptions,
  RecognitionEvent,
  StreamingSpeechToText,
} from '../../models/ports/streamingSpeechToText.ts';
import { VAD_FRAME_MS } from '../../models/ports/voiceActivity.ts';
import type { ThreadTime } from '../threadTime.ts';
import type { FrameContext, Transcription } from './transcription.ts';
import { UtteranceText } from './utteranceText.ts';

/** Frames of silence that go to the recognizer as one message, which costs more than its audio. */
const SILENT_FRAMES = 4;
/** Interim transcripts follow the voice at this distance; an older one may lack the last words. */
const INTERIM_DELAY_MS = 300;
/** A final transcript that comes sooner after the voice is that of earlier words. */
const FINAL_DELAY_MS = 80;
/** A word that ends this close before the end of the voice is the last one. */
const LAST_WORD_TOLERANCE_MS = 150;
/** A recognizer that has told no word of the voice by then has heard none: it was a cough. */
const NO_WORDS_MS = 2000;
/** The final words of a closed utterance are awaited so long. */
const LAST_WORDS_TIMEOUT_MS = 700;
/** A recognizer that reports no words for this much voice has failed. */
const WORDLESS_VOICED_MS = 1000;
/** Silence after such a voice at which a recognizer that tells turns is asked for its words. */
const ASK_AFTER_MS = 900;
/** Silence at which it is left for the next one. */
const LEAVE_AFTER_MS = 1400;
/** Audio before the voice that the next one hears too. */
const PRE_ROLL_MS = 500;
/** Audio that is heard again has been heard when the words have not changed for so long. */
const HEARD_AGAIN_MS = 1000;

export interface StreamTranscriptionDeps {
  readonly clock: Clock;
  readonly threadTime?: ThreadTime | undefined;
  readonly speechToText: StreamingSpeechToText;
  readonly options: RecognitionConnectionOptions;
  /** The stream's clock at the first sample. */
  readonly startMs: number;
  /** The words of the open utterance so far. */
  readonly onInterim: (text: string) => void;
  /** The words that answered a request have changed. */
  readonly onRevised: (transcript: Transcript) => void;
  readonly onTurnSignal: (signal: TurnSignal) => void;
  /** The recognizer is lost. */
  readonly onFailed: (error: ModelError) => void;
  /** Whether another recognizer takes over when this one is lost. */
  readonly hasFallback: () => boolean;
}

interface Request {
  readonly resolve: (transcript: Transcript) => void;
  readonly reject: (error: unknown) => void;
}

/** A closed utterance whose last words are awaited. */
interface Closing {
  readonly lastVoicedMs: number;
  readonly resolve: (transcript: Transcript) => void;
  readonly timer: Timer;
}

/** Transcription by a recognizer that hears the whole stream and tells words while they are spoken. */
export class StreamTranscription implements Transcription {
  readonly #deps: StreamTranscriptionDeps;
  readonly #connection: RecognitionConnection;
  readonly #text = new UtteranceText();
  readonly #silence: Int16Array;
  /** The samples that were not sent yet. */
  readonly #message: Int16Array;
  #unsentSamples = 0;
  #utterance: Utterance | undefined;
  #nowMs = 0;
  /** The end of the last word that has a time, and when the words became final; on the stream's clock. */
  #lastWordEndMs = Number.NEGATIVE_INFINITY;
  #finalAtMs = Number.NEGATIVE_INFINITY;
  #request: Request | undefined;
  #closing: Closing | undefined;
  /** The recognizer was asked to end its turn, and has not yet. */
  #isEndAsked = false;
  /** The open utterance is heard again by another connection, which is being made, or hears it. */
  #heardAgain: 'awaited' | 'hearing' | undefined;
  /** When the words last changed, or began to be heard again. */
  #changedAtMs = 0;
  /** The recognizer was left in the open utterance. */
  #isLeft = false;
  /** The transcript that answered the last request; undefined before, and once the caller has continued. */
  #answered: Transcript | undefined;
  #error: ModelError | undefined;

  constructor(deps: StreamTranscriptionDeps) {
    this.#deps = deps;
    const frameSamples = (deps.options.sampleRateHz * VAD_FRAME_MS) / 1000;
    this.#silence = new Int16Array(frameSamples);
    this.#message = new Int16Array(SILENT_FRAMES * frameSamples);
    const onEvent = (event: RecognitionEvent) => this.#onEvent(event);
    this.#connection = deps.speechToText.connect(deps.options, deps.threadTime?.counted(onEvent) ?? onEvent);
  }

  get isOpen(): boolean {
    return this.#utterance !== undefined;
  }

  /** An echo becomes silence, so that the stream's time goes on. */
  push(frame: Int16Array, { utterance, atMs, isEcho }: FrameContext): void {
    this.#nowMs = atMs;
    // Words from now on are the next utterance's.
    if (utterance) this.#finishClosing();
    if (utterance?.startMs !== this.#utterance?.startMs) this.#isLeft = false;
    this.#utterance = utterance;
    this.#send(isEcho ? this.#silence : frame);
    if (utterance) this.#expectWords(utterance);
    if (this.#request) this.#answer();
  }

  /** A recognizer that tells no word of the voice is asked for them, then left. */
  #expectWords({ startMs, voicedMs, lastVoicedMs }: Utterance): void {
    const silenceMs = this.#nowMs - lastVoicedMs;
    const isWordless = this.#text.text === '' && voicedMs >= WORDLESS_VOICED_MS;
    if (silenceMs >= ASK_AFTER_MS && (isWordless || this.#heardAgain === 'hearing')) this.#endTurn();
    if (!isWordless || this.#isLeft || this.#heardAgain) return;
    const isAnswered = this.#isFinalAfter(lastVoicedMs);
    if (!isAnswered && silenceMs < LEAVE_AFTER_MS) return;
    const { speechToText, hasFallback } = this.#deps;
    const error = new ModelError('model_unavailable', `${speechToText.name} told no word of what was said`);
    const lengthMs = this.#nowMs - startMs + PRE_ROLL_MS;
    // The only recognizer may have lost its connection without noticing, unless it answers.
    const mayReconnect = !hasFallback() && !isAnswered && silenceMs >= NO_WORDS_MS;
    this.#isLeft = this.#connection.leave?.(error, lengthMs, mayReconnect) ?? false;
    if (!this.#isLeft && hasFallback()) this.#onFailed(error);
  }

  /** Speech is sent at once, and so is what follows it until its words and the end of its turn are known. */
  #send(frame: Int16Array): void {
    const { detectsTurns } = this.#deps.speechToText;
    const isAwaited = this.#utterance || this.#closing || (detectsTurns && this.#text.isTurnOpen);
    this.#message.set(frame, this.#unsentSamples);
    this.#unsentSamples += frame.length;
    if (!isAwaited && this.#unsentSamples < this.#message.length) return;
    const unsent = this.#message.subarray(0, this.#unsentSamples);
    this.#unsentSamples = 0;
    this.#connection.push(unsent);
  }

  request(signal: AbortSignal): Promise<Transcript> {
    const { speechToText } = this.#deps;
    this.#answered = undefined;
    if (!speechToText.detectsTurns && !this.#hasLastWord()) this.#connection.finalize();
    return new Promise((resolve, reject) => {
      const request = { resolve, reject };
      this.#request = request;
      signal.addEventListener('abort', () => {
        if (this.#request === request) this.#request = undefined;
        this.#answered = undefined;
        reject(signal.reason);
      });
      this.#answer();
    });
  }

  requestInterim(): void {}

  /** Asks for the last words of the utterance and waits for them briefly. */
  async take(requested: Promise<Transcript>): Promise<Transcript> {
    if (this.#request && this.#utterance) this.#startClosing(this.#request, this.#utterance);
    else this.#request?.resolve(this.#text.transcript);
    this.discard();
    return await requested;
  }

  discard(): void {
    this.#request = undefined;
    this.#answered = undefined;
    this.#utterance = undefined;
    this.#heardAgain = undefined;
    if (this.#closing) return;
    // The recognizer's turn ends with ours, so that the next words begin another.
    if (this.#text.isTurnOpen) this.#endTurn();
    this.#text.take();
  }

  close(): void {
    this.#finishClosing();
    this.#connection.close();
  }

  #startClosing({ resolve }: Request, { lastVoicedMs }: Utterance): void {
    const timer = this.#deps.clock.setTimer(() => this.#finishClosing(), LAST_WORDS_TIMEOUT_MS);
    this.#closing = { resolve, lastVoicedMs, timer };
    // Where no turns are detected, the request has asked already.
    this.#endTurn();
  }

  #endTurn(): void {
    if (this.#deps.speechToText.detectsTurns && !this.#isEndAsked)
      this.#isEndAsked = this.#connection.finalize();
  }

  #finishClosing(): void {
    const closing = this.#closing;
    if (!closing) return;
    this.#closing = undefined;
    closing.timer.cancel();
    closing.resolve(this.#text.transcript);
    this.#text.take();
  }

  #onEvent(event: RecognitionEvent): void {
    const { onInterim, onTurnSignal } = this.#deps;
    if (event.type === 'failed') {
      this.#onFailed(event.error);
      return;
    }
    if (event.type !== 'interim') this.#isEndAsked = false;
    if (event.type === 'reconnecting' || event.type === 'connected') {
      this.#onConnection(event.type);
      return;
    }
    const before = this.#text.text;
    this.#text.on(event);
    if (this.#text.isFinal) this.#finalAtMs = this.#nowMs;
    if (event.type === 'interim' || event.type === 'final') {
      const lastMs = event.transcript.words?.at(-1)?.endMs;
      if (lastMs !== undefined) this.#lastWordEndMs = this.#deps.startMs + lastMs;
      if (event.type === 'final') this.#onFinal(lastMs !== undefined);
    } else onTurnSignal(event.type);
    const { text } = this.#text;
    if (text !== before) this.#changedAtMs = this.#nowMs;
    if (text !== before && this.#utterance) onInterim(text);
    this.#answer();
  }

  /** Starts the open utterance's words again on a new connection, which hears all of it. */
  #onConnection(type: 'reconnecting' | 'connected'): void {
    if (type === 'connected') this.#error = undefined;
    if (!this.#utterance) return;
    this.#heardAgain = type === 'connected' ? 'hearing' : 'awaited';
    this.#changedAtMs = this.#nowMs;
    this.#finalAtMs = Number.NEGATIVE_INFINITY;
    this.#lastWordEndMs = Number.NEGATIVE_INFINITY;
    if (type === 'connected' && this.#request && !this.#deps.speechToText.detectsTurns)
      this.#connection.finalize();
  }

  /** A final transcript that lacks the last words, by its times, is that of an earlier pause. */
  #onFinal(hasTimes: boolean): void {
    if (!this.#closing) return;
    const endMs = this.#closing.lastVoicedMs - LAST_WORD_TOLERANCE_MS;
    if (!hasTimes || this.#lastWordEndMs >= endMs) this.#finishClosing();
  }

  #onFailed(error: ModelError): void {
    this.#error = error;
    this.#heardAgain = undefined;
    this.#finishClosing();
    this.#request?.reject(error);
    this.#request = undefined;
    this.#deps.onFailed(error);
  }

  /** Answers the request once its words are complete, and again when they are revised. */
  #answer(): void {
    const { transcript } = this.#text;
    const { text, language } = this.#answered ?? transcript;
    if (text !== transcript.text || language !== transcript.language) {
      this.#answered = transcript;
      this.#deps.onRevised(transcript);
    }
    const request = this.#request;
    if (!request) return;
    if (this.#error) request.reject(this.#error);
    else if (this.#hasLastWord()) {
      request.resolve(transcript);
      this.#answered = transcript;
      this.#heardAgain = undefined;
    } else return;
    this.#request = undefined;
  }

  #hasLastWord(): boolean {
    if (!this.#utterance) return true;
    const { lastVoicedMs } = this.#utterance;
    if (this.#lastWordEndMs >= lastVoicedMs - LAST_WORD_TOLERANCE_MS) return true;
    if (this.#heardAgain) return this.#isHeardAgain(lastVoicedMs);
    if (this.#isFinalAfter(lastVoicedMs)) return true;
    const silenceMs = this.#nowMs - lastVoicedMs;
    return silenceMs >= (this.#text.text === '' ? NO_WORDS_MS : INTERIM_DELAY_MS);
  }

  /** Final words that have times and end before the voice are those of its first sentence. */
  #isHeardAgain(lastVoicedMs: number): boolean {
    if (this.#heardAgain === 'awaited') return false;
    const hasTimes = this.#lastWordEndMs !== Number.NEGATIVE_INFINITY;
    if (!hasTimes && this.#isFinalAfter(lastVoicedMs)) return true;
    return this.#nowMs - Math.max(lastVoicedMs, this.#changedAtMs) >= HEARD_AGAIN_MS;
  }

  #isFinalAfter(lastVoicedMs: number): boolean {
    return this.#text.isFinal && this.#finalAtMs >= lastVoicedMs + FINAL_DELAY_MS;
  }
}
