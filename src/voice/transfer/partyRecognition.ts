import type { SpeechConfig } from '../../agents/speech/speechConfig.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { Recognizer } from '../../models/ports/recognizer.ts';
import type { VoiceActivityDetection } from '../../models/ports/voiceActivity.ts';
import { CallTranscription } from '../recognition/callTranscription.ts';
import { SpeechRecognition } from '../recognition/speechRecognition.ts';
import type { CallSpeech } from '../speech/callSpeech.ts';

export interface PartyRecognitionDeps {
  readonly stream: AudioStream;
  readonly voiceActivity: VoiceActivityDetection;
  readonly speechToText: Recognizer;
  readonly callSpeech: CallSpeech | undefined;
  readonly clock: Clock;
  readonly speech: SpeechConfig;
  readonly language: string | undefined;
  readonly expectedAnswers: readonly string[];
  /** The agent's audio of the last 20 ms; undefined for silence. */
  readonly agentFrame: () => Int16Array | undefined;
  readonly onFrame: () => void;
  /** @param recognizer - The recognizer's name in the settings. */
  readonly onWords: (text: string, recognizer: string) => void;
  readonly onError: (error: unknown, message: string) => void;
}

/** A pause that ends most sentences; no answer is due. */
const END_OF_UTTERANCE_MS = 700;

/** Recognizes what one party says, utterance by utterance, without a conversation. */
export class PartyRecognition {
  readonly #deps: PartyRecognitionDeps;
  readonly #recognition: SpeechRecognition;
  #pending: Promise<unknown> = Promise.resolve();
  #recognizer: string;

  constructor(deps: PartyRecognitionDeps) {
    this.#deps = deps;
    this.#recognizer = deps.speechToText.name;
    const { stream, voiceActivity } = deps;
    const { sampleRateHz } = stream.info;
    this.#recognition = new SpeechRecognition({
      sampleRateHz,
      startSamples: stream.receivedSamples,
      detector: voiceActivity.open(sampleRateHz),
      transcription: this.#openTranscription(sampleRateHz),
      agentFrame: deps.agentFrame,
      onFrame: (_frame, atMs) => this.#onFrame(atMs),
      // Transcripts are taken, not requested.
      onTranscript: () => undefined,
      onTranscriptionFailed: () => undefined,
    });
  }

  push(samples: Int16Array): void {
    this.#recognition.push(samples);
  }

  /** Resolves when the last words are recognized. */
  async close(): Promise<void> {
    this.#take();
    await this.#pending;
    this.#recognition.close();
  }

  #openTranscription(sampleRateHz: number): CallTranscription {
    const { stream, speechToText, callSpeech, clock, speech, language, expectedAnswers, onError } =
      this.#deps;
    const transcription = new CallTranscription({
      clock,
      sampleRateHz,
      receivedSamples: () => stream.receivedSamples,
      hints: () => ({ language, expectedAnswers, keyterms: speech.recognition?.keyterms }),
      onInterim: () => undefined,
      onRevised: () => undefined,
      onTurnSignal: () => undefined,
      onFailed: (error) => onError(error, 'speech recognition lost'),
      onFallback: (from, to, error) => callSpeech?.leave('recognition', from.name, to.name, error),
      onRecognizer: ({ name }) => {
        this.#recognizer = name;
      },
    });
    if (!callSpeech) transcription.use([speechToText]);
    else void callSpeech.recognizersFor(speech).then((recognizers) => transcription.use(recognizers));
    return transcription;
  }

  #onFrame(atMs: number): void {
    this.#deps.onFrame();
    const { utterance } = this.#recognition;
    if (utterance && atMs - utterance.lastVoicedMs >= END_OF_UTTERANCE_MS) this.#take();
  }

  #take(): void {
    const { onWords, onError } = this.#deps;
    const taken = this.#recognition.takeTranscript().then(
      (text) => {
        if (text !== '') onWords(text, this.#recognizer);
      },
      (error: unknown) => onError(error, 'speech recognition failed'),
    );
    this.#pending = Promise.all([this.#pending, taken]);
  }
}
