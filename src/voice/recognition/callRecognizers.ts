import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { TurnSettings } from '../../conversation/turnDetection/turnSettings.ts';
import type { CurrentNode } from '../../engine/turn/delivery.ts';
import type { Recognizer } from '../../models/ports/recognizer.ts';
import type { RecognitionOptions, SpeechToText, Transcript } from '../../models/ports/speechToText.ts';
import type { SessionSpeech } from '../speech/callSpeech.ts';
import { CallTranscription } from './callTranscription.ts';
import {
  type RecognitionHints,
  recognizerAbilities,
  type TranscriptionOptions,
} from './openTranscription.ts';
import { transcribeUtterance } from './transcribeUtterance.ts';

export interface CallRecognizersDeps
  extends Pick<TranscriptionOptions, 'clock' | 'threadTime' | 'onInterim' | 'onRevised' | 'onTurnSignal'> {
  readonly stream: AudioStream;
  readonly settings: TurnSettings;
  readonly speech: SessionSpeech;
  /** The speech-to-speech model that hears the caller; undefined for a recognizer. */
  readonly engineRecognizer?: (() => SpeechToText | undefined) | undefined;
  readonly onError: (error: unknown, message: string) => void;
}

/** The recognizers of one call, as its nodes name them. */
export class CallRecognizers {
  readonly transcription: CallTranscription;
  readonly #deps: CallRecognizersDeps;
  #current: Recognizer;
  /** The recognizers that the last node named. */
  #wanted = '';

  constructor(deps: CallRecognizersDeps) {
    this.#deps = deps;
    this.#current = deps.speech.speechToText;
    this.transcription = this.#createTranscription();
    // Else the first node says which vendor hears the caller.
    if (!deps.speech.callSpeech) this.transcription.use([deps.speech.speechToText]);
  }

  /** The name of the vendor that hears the caller. */
  get name(): string {
    return this.#current.name;
  }

  onNode({ speech, engine }: CurrentNode): void {
    const { settings, engineRecognizer } = this.#deps;
    const { callSpeech, speechToText } = this.#deps.speech;
    const recognizer = engineRecognizer?.();
    const wanted = JSON.stringify([
      speech.recognition,
      speech.fallback?.recognition,
      languageHint(settings),
      recognizer && engine,
    ]);
    if (wanted === this.#wanted) return;
    const isFirst = this.#wanted === '';
    this.#wanted = wanted;
    if (recognizer || !callSpeech) {
      if (recognizer || !isFirst) this.transcription.use([recognizer ?? speechToText]);
      return;
    }
    void callSpeech.recognizersFor(speech).then((recognizers) => {
      if (this.#wanted === wanted) this.transcription.use(recognizers);
    });
  }

  /** Transcribes an utterance that a speech-to-speech model cannot. @throws {ModelError} */
  async transcribe(frames: readonly Int16Array[], options: RecognitionOptions): Promise<Transcript> {
    const { settings, clock } = this.#deps;
    const { callSpeech, speechToText } = this.#deps.speech;
    const [recognizer = speechToText] =
      (settings.node && (await callSpeech?.recognizersFor(settings.node.speech))) ?? [];
    return await transcribeUtterance(recognizer, frames, options, clock);
  }

  /** A vendor was left for the next one, which may not tell turns. */
  onFallback(): void {
    this.#deps.settings.useRecognizer(recognizerAbilities(this.#current));
  }

  #createTranscription(): CallTranscription {
    const { stream, settings, speech, clock, threadTime, onInterim, onRevised, onTurnSignal, onError } =
      this.#deps;
    return new CallTranscription({
      clock,
      threadTime,
      onInterim,
      onRevised,
      onTurnSignal,
      sampleRateHz: stream.info.sampleRateHz,
      receivedSamples: () => stream.receivedSamples,
      hints: () => ({
        ...languageHint(settings),
        expectedAnswers: settings.expectedAnswers,
        keyterms: settings.node?.speech.recognition?.keyterms,
      }),
      onFailed: (error) => onError(error, 'speech recognition lost'),
      onFallback: (from, to, error) => speech.callSpeech?.leave('recognition', from.name, to.name, error),
      onRecognizer: (recognizer) => {
        this.#current = recognizer;
        settings.useRecognizer(recognizerAbilities(recognizer));
      },
    });
  }
}

/** A recognizer that is to tell languages apart is not bound to one. */
function languageHint({ node, language }: TurnSettings): Pick<RecognitionHints, 'language' | 'languages'> {
  const { languages = [] } = node ?? {};
  return languages.length > 1 ? { languages } : { language };
}
