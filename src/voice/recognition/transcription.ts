import type { Utterance } from '../../conversation/turnDetection/speechActivity.ts';
import { NO_WORDS } from '../../conversation/turns/recognizedWords.ts';
import type {
  RecognitionOptions,
  RecognitionStream,
  SpeechToText,
  Transcript,
} from '../../models/ports/speechToText.ts';
import { VAD_FRAME_MS } from '../../models/ports/voiceActivity.ts';

/** Audio kept from before the onset was certain; first consonants are soft. */
const PRE_ROLL_MS = 300;

/** Turns the frames of one caller into words, utterance by utterance. */
export interface Transcription {
  /** Takes the caller's next frame, which is valid during the call only. */
  push(frame: Int16Array, heard: FrameContext): void;
  /** Whether there is something to transcribe. */
  readonly isOpen: boolean;
  /**
   * The transcript of the open utterance so far.
   *
   * @param signal - Aborts the request, not the utterance: it rejects with the signal's reason.
   * @throws {ModelError}
   */
  request(signal: AbortSignal): Promise<Transcript>;
  /**
   * Asks for the words of the open utterance so far while the caller speaks; they are told as interim words. Does nothing
   * where the recognizer tells them by itself, or cannot.
   */
  requestInterim(): void;
  /** Closes the open utterance, whose requested transcript is still awaited. */
  take(requested: Promise<Transcript>): Promise<Transcript>;
  /** Closes the open utterance and drops its words. */
  discard(): void;
  close(): void;
}

export interface FrameContext {
  /** The utterance in progress; undefined while the caller is silent. */
  readonly utterance: Utterance | undefined;
  /** The frame's end on the stream's clock. */
  readonly atMs: number;
  /** The frame is the agent's own voice. */
  readonly isEcho: boolean;
}

export interface UtteranceTranscriptionDeps {
  readonly sampleRateHz: number;
  readonly speechToText: SpeechToText;
  /** Read when an utterance starts. */
  readonly hints: () => Omit<RecognitionOptions, 'sampleRateHz' | 'onInterim'>;
  readonly onInterim: (text: string) => void;
}

/** Transcription by a recognizer that takes one utterance at a time. */
export class UtteranceTranscription implements Transcription {
  readonly #deps: UtteranceTranscriptionDeps;
  readonly #preRoll: Int16Array[] = [];
  #stream: RecognitionStream | undefined;
  #interim: AbortController | undefined;

  constructor(deps: UtteranceTranscriptionDeps) {
    this.#deps = deps;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  push(frame: Int16Array, { utterance }: FrameContext): void {
    if (utterance && this.#stream) {
      this.#stream.push(frame);
      return;
    }
    this.#preRoll.push(frame.slice());
    if (this.#preRoll.length > PRE_ROLL_MS / VAD_FRAME_MS) this.#preRoll.shift();
    if (!utterance) return;
    const { speechToText, sampleRateHz, hints, onInterim } = this.#deps;
    const stream = speechToText.openStream({
      sampleRateHz,
      ...hints(),
      onInterim: (text) => {
        if (this.#stream === stream) onInterim(text);
      },
    });
    this.#stream = stream;
    for (const samples of this.#preRoll.splice(0)) stream.push(samples);
  }

  async request(signal: AbortSignal): Promise<Transcript> {
    this.#dropInterim();
    return (await this.#stream?.finalize(signal)) ?? NO_WORDS;
  }

  requestInterim(): void {
    const stream = this.#stream;
    if (!stream || this.#interim || this.#deps.speechToText.isAskedOnce) return;
    const controller = new AbortController();
    this.#interim = controller;
    stream.finalize(controller.signal, true).then(
      ({ text }) => {
        if (this.#interim !== controller) return;
        this.#interim = undefined;
        if (text !== '') this.#deps.onInterim(text);
      },
      () => {
        // The request at the caller's pause reports what fails.
        if (this.#interim === controller) this.#interim = undefined;
      },
    );
  }

  async take(requested: Promise<Transcript>): Promise<Transcript> {
    this.#dropInterim();
    const stream = this.#stream;
    this.#stream = undefined;
    try {
      return await requested;
    } finally {
      stream?.close();
    }
  }

  discard(): void {
    this.#dropInterim();
    this.#stream?.close();
    this.#stream = undefined;
  }

  close(): void {
    this.discard();
  }

  #dropInterim(): void {
    this.#interim?.abort(new Error('the interim words are not needed any more'));
    this.#interim = undefined;
  }
}
