import {
  closeUtterance,
  detectSpeech,
  isSpeechOnset,
  NO_SPEECH,
  type SpeechActivity,
  type Utterance,
} from '../../conversation/turnDetection/speechActivity.ts';
import type { Transcript } from '../../models/ports/speechToText.ts';
import { VAD_FRAME_MS, type VoiceActivityDetector } from '../../models/ports/voiceActivity.ts';
import { createEchoDetector, type EchoDetector } from './echoDetector.ts';
import type { HeardTally } from './heardSpeech.ts';
import { createSpeechEnd, type SpeechEnd } from './speechEnd.ts';
import type { Transcription } from './transcription.ts';

/** Half of the first frame of a steady noise is not yet noise. */
const NOISE_ONSET_MS = 2 * VAD_FRAME_MS;

export interface SpeechRecognitionDeps {
  readonly sampleRateHz: number;
  /** The stream's clock at the first sample. */
  readonly startSamples: number;
  readonly detector: VoiceActivityDetector;
  readonly transcription: Transcription;
  /** What is transcribed of a frame; all else goes by the frame itself. Default: the frame. */
  readonly clean?: (frame: Int16Array) => Int16Array;
  /** The agent's audio of the last 20 ms, for echo detection; undefined for silence. */
  readonly agentFrame: () => Int16Array | undefined;
  /** Called with each 20 ms frame and its end on the stream's clock. The frame is valid during the call only. */
  readonly onFrame: (frame: Int16Array, atMs: number) => void;
  /** The result of {@link SpeechRecognition.requestTranscript}. */
  readonly onTranscript: (transcript: Transcript) => void;
  readonly onTranscriptionFailed: (error: unknown) => void;
  /** Counts the utterances; undefined when they are not. */
  readonly tally?: HeardTally | undefined;
}

interface TranscriptRequest {
  readonly transcript: Promise<Transcript>;
  readonly controller: AbortController;
}

/** The words of the open utterance, as far as they are known. */
interface Known {
  readonly wasRequested: boolean;
  /** The text of the utterance so far; undefined before the first transcript. */
  readonly text: string | undefined;
}

const NOTHING_KNOWN: Known = { wasRequested: false, text: undefined };

/**
 * Recognizes the caller's speech on one stream: frames the audio, removes echo and noise, detects utterances, and has
 * them transcribed.
 */
export class SpeechRecognition {
  readonly #deps: SpeechRecognitionDeps;
  readonly #frame: Int16Array;
  readonly #echo: EchoDetector;
  readonly #speechEnd: SpeechEnd;
  #frameFilled = 0;
  #receivedSamples: number;
  #activity: SpeechActivity = NO_SPEECH;
  #request: TranscriptRequest | undefined;
  #known: Known = NOTHING_KNOWN;

  constructor(deps: SpeechRecognitionDeps) {
    this.#deps = deps;
    this.#frame = new Int16Array((deps.sampleRateHz * VAD_FRAME_MS) / 1000);
    this.#echo = createEchoDetector(deps.sampleRateHz);
    this.#speechEnd = createSpeechEnd(deps.sampleRateHz);
    this.#receivedSamples = deps.startSamples;
  }

  get utterance(): Utterance | undefined {
    return this.#activity.utterance;
  }

  /** End of the voice in the open utterance, to the sample. */
  get speechEndMs(): number | undefined {
    return this.#speechEnd.atMs;
  }

  /** Whether speech may be starting. */
  get isSpeechOnset(): boolean {
    return isSpeechOnset(this.#activity);
  }

  /** Takes the caller's next samples, any number. The caller of this method may reuse the array. */
  push(samples: Int16Array): void {
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(this.#frame.length - this.#frameFilled, samples.length - at);
      this.#frame.set(samples.subarray(at, at + count), this.#frameFilled);
      this.#frameFilled += count;
      at += count;
      if (this.#frameFilled < this.#frame.length) return;
      this.#frameFilled = 0;
      this.#processFrame();
    }
  }

  /** Requests the transcript of the open utterance so far; `onTranscript` or `onTranscriptionFailed` follows. */
  requestTranscript(): void {
    const { transcription } = this.#deps;
    this.cancelRequest();
    if (!transcription.isOpen) return;
    const controller = new AbortController();
    const transcript = transcription.request(controller.signal);
    const request = { transcript, controller };
    this.#request = request;
    this.#known = { ...this.#known, wasRequested: true };
    transcript.then(
      (found) => {
        if (this.#request !== request) return;
        this.noteWords(found.text);
        this.#deps.onTranscript(found);
      },
      (error: unknown) => {
        if (this.#request === request) this.#deps.onTranscriptionFailed(error);
      },
    );
  }

  /** The open utterance has this transcript, as far as it goes. */
  noteWords(text: string): void {
    this.#known = { wasRequested: true, text };
  }

  /** Asks for the words so far while the caller speaks, where the recognizer tells none by itself. */
  requestInterim(): void {
    if (!this.#request) this.#deps.transcription.requestInterim();
  }

  /** Drops the pending request: the caller continued, and its transcript would be incomplete. */
  cancelRequest(): void {
    this.#request?.controller.abort(new Error('the caller continued speaking'));
    this.#request = undefined;
  }

  /**
   * Closes the open utterance, as {@link discardUtterance} does, and transcribes it.
   *
   * @returns Empty without an open utterance.
   * @throws {ModelError} When the transcription fails.
   */
  async takeTranscript(): Promise<string> {
    if (!this.#request) this.requestTranscript();
    const request = this.#request;
    if (!request) {
      this.discardUtterance();
      return '';
    }
    // Detached first, so that discarding the utterance does not cancel it.
    this.#request = undefined;
    const taken = this.#deps.transcription.take(request.transcript);
    const { utterance } = this;
    this.#drop();
    let words: string | undefined;
    try {
      const { text, late } = await taken;
      words = (await late) || text;
      return words;
    } finally {
      if (utterance) this.#deps.tally?.add(utterance, words, true);
    }
  }

  /** Closes the open utterance and drops its transcription. */
  discardUtterance(): void {
    const { text, wasRequested } = this.#known;
    if (this.utterance) this.#deps.tally?.add(this.utterance, text, wasRequested);
    this.#drop();
  }

  #drop(): void {
    this.#known = NOTHING_KNOWN;
    this.cancelRequest();
    this.#deps.transcription.discard();
    this.#activity = closeUtterance(this.#activity);
    this.#speechEnd.reset();
  }

  close(): void {
    this.discardUtterance();
    this.#deps.transcription.close();
    this.#deps.detector.close();
  }

  #processFrame(): void {
    const { detector, sampleRateHz } = this.#deps;
    this.#receivedSamples += this.#frame.length;
    const atMs = (this.#receivedSamples * 1000) / sampleRateHz;
    const isSpeech = detector.isSpeech(this.#frame);
    const verdict = this.#echo.judge(this.#frame, this.#deps.agentFrame(), isSpeech);
    if (verdict === 'echo_found' || this.#isUtteranceNoise(atMs)) this.#drop();
    this.#activity = detectSpeech(this.#activity, isSpeech && verdict === 'not_echo', atMs);
    if (this.utterance?.lastVoicedMs === atMs) this.#speechEnd.push(this.#frame, atMs);
    const isEcho = isSpeech && verdict !== 'not_echo';
    const { transcription, clean } = this.#deps;
    try {
      transcription.push(clean?.(this.#frame) ?? this.#frame, { utterance: this.utterance, atMs, isEcho });
    } finally {
      // Timeouts and detectors go on where the recognizer fails.
      this.#deps.onFrame(this.#frame, atMs);
    }
  }

  /** Whether the open utterance consists of what the detector has just learned to be noise. */
  #isUtteranceNoise(atMs: number): boolean {
    const noiseMs = this.#deps.detector.reclassifiedNoiseMs?.() ?? 0;
    const { utterance } = this;
    return noiseMs > 0 && utterance !== undefined && utterance.startMs >= atMs - noiseMs - NOISE_ONSET_MS;
  }
}
