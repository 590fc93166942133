import type { ModelError } from '../../providers/ports/modelError.ts';
import type {
  RecognitionConnection,
  RecognitionConnectionOptions,
  RecognitionEvent,
  StreamingSpeechToText,
} from '../../providers/ports/streamingSpeechToText.ts';
import type { Utterance } from './speechActivity.ts';
import { SpokenText } from './spokenText.ts';
import type { FrameContext, Transcription } from './transcription.ts';

/** Interim transcripts follow the voice at this distance; an older one may lack the last words. */
const INTERIM_DELAY_MS = 300;
/** A final transcript that comes sooner after the voice is that of earlier words. */
const FINAL_DELAY_MS = 80;
/** A word that ends this close before the end of the voice is the last one. */
const LAST_WORD_TOLERANCE_MS = 150;

/** What a recognizer says about the caller's turn. */
export type TurnSignal = 'eager_end' | 'turn_resumed' | 'end_of_turn';

export interface StreamTranscriptionDeps {
  readonly speechToText: StreamingSpeechToText;
  readonly options: RecognitionConnectionOptions;
  /** The stream's clock at the first sample. */
  readonly startMs: number;
  /** The words of the open utterance so far. */
  readonly onInterim: (text: string) => void;
  /** The words that answered a request have changed. */
  readonly onRevised: (text: string) => void;
  readonly onTurnSignal: (signal: TurnSignal) => void;
  /** The recognizer is lost. */
  readonly onFailed: (error: ModelError) => void;
}

interface Request {
  readonly resolve: (text: string) => void;
  readonly reject: (error: unknown) => void;
}

/** Transcription by a recognizer that hears the whole stream and tells words while they are spoken. */
export class StreamTranscription implements Transcription {
  readonly #deps: StreamTranscriptionDeps;
  readonly #connection: RecognitionConnection;
  readonly #text = new SpokenText();
  #silence = new Int16Array(0);
  #utterance: Utterance | undefined;
  #nowMs = 0;
  /** On the stream's clock: the end of the last word that has a time, and when the words became final. */
  #lastWordEndMs = Number.NEGATIVE_INFINITY;
  #finalAtMs = Number.NEGATIVE_INFINITY;
  #request: Request | undefined;
  /** What the last request was answered with; undefined before, and once the caller has continued. */
  #answered: string | undefined;
  #error: ModelError | undefined;

  constructor(deps: StreamTranscriptionDeps) {
    this.#deps = deps;
    this.#connection = deps.speechToText.connect(deps.options, (event) => this.#onEvent(event));
  }

  get isOpen(): boolean {
    return this.#utterance !== undefined;
  }

  /** An echo becomes silence, so that the stream's time goes on. */
  push(frame: Int16Array, { utterance, atMs, isEcho }: FrameContext): void {
    this.#nowMs = atMs;
    this.#utterance = utterance;
    if (isEcho && this.#silence.length !== frame.length) this.#silence = new Int16Array(frame.length);
    this.#connection.push(isEcho ? this.#silence : frame);
    this.#answer();
  }

  request(signal: AbortSignal): Promise<string> {
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

  async take(text: Promise<string>): Promise<string> {
    const { text: soFar } = this.#text;
    // The call is over, or the turn is another one's: later words come too late.
    this.#request?.resolve(soFar);
    this.discard();
    return await text;
  }

  discard(): void {
    this.#request = undefined;
    this.#answered = undefined;
    // The recognizer's turn ends with ours, so that the next words begin another.
    if (this.#deps.speechToText.detectsTurns && this.#text.isTurnOpen) this.#connection.finalize();
    this.#text.take();
    this.#utterance = undefined;
  }

  close(): void {
    this.#connection.close();
  }

  #onEvent(event: RecognitionEvent): void {
    const { onInterim, onTurnSignal } = this.#deps;
    if (event.type === 'failed') {
      this.#onFailed(event.error);
      return;
    }
    if (event.type === 'connected') {
      this.#error = undefined;
      return;
    }
    const before = this.#text.text;
    this.#text.on(event);
    if (this.#text.isFinal) this.#finalAtMs = this.#nowMs;
    if (event.type === 'interim' || event.type === 'final') {
      const lastMs = event.transcript.words?.at(-1)?.endMs;
      if (lastMs !== undefined) this.#lastWordEndMs = this.#deps.startMs + lastMs;
    } else onTurnSignal(event.type);
    const { text } = this.#text;
    if (text !== before && this.#utterance) onInterim(text);
    this.#answer();
  }

  #onFailed(error: ModelError): void {
    this.#error = error;
    this.#request?.reject(error);
    this.#request = undefined;
    this.#deps.onFailed(error);
  }

  /** Answers the request once its words are complete, and again when they are revised. */
  #answer(): void {
    const { text } = this.#text;
    if (this.#answered !== undefined && text !== this.#answered) {
      this.#answered = text;
      this.#deps.onRevised(text);
    }
    const request = this.#request;
    if (!request) return;
    if (this.#error) request.reject(this.#error);
    else if (this.#hasLastWord()) {
      request.resolve(text);
      this.#answered = text;
    } else return;
    this.#request = undefined;
  }

  #hasLastWord(): boolean {
    if (!this.#utterance) return true;
    const { lastVoicedMs } = this.#utterance;
    if (this.#text.isFinal && this.#finalAtMs >= lastVoicedMs + FINAL_DELAY_MS) return true;
    if (this.#lastWordEndMs >= lastVoicedMs - LAST_WORD_TOLERANCE_MS) return true;
    return this.#text.text !== '' && this.#nowMs - lastVoicedMs >= INTERIM_DELAY_MS;
  }
}
