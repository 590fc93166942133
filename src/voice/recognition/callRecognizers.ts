import type { CurrentNode } from '../../engine/turn/delivery.ts';
import type { Recognizer } from '../../providers/ports/recognizer.ts';
import type { AudioStream } from '../audioStream.ts';
import type { CallSpeech } from '../speech/callSpeech.ts';
import type { TurnSettings } from '../turnDetection/turnSettings.ts';
import { CallTranscription } from './callTranscription.ts';
import {
  type RecognitionHints,
  recognizerAbilities,
  type TranscriptionOptions,
} from './openTranscription.ts';

export interface CallRecognizersDeps
  extends Pick<TranscriptionOptions, 'clock' | 'onInterim' | 'onRevised' | 'onTurnSignal'> {
  readonly stream: Pick<AudioStream, 'info' | 'receivedSamples'>;
  readonly settings: TurnSettings;
  /** What agent and nodes name; absent where one recognizer serves all. */
  readonly callSpeech?: CallSpeech | undefined;
  readonly speechToText: Recognizer;
  readonly onError: (error: unknown, message: string) => void;
}

/** The recognizers of one call, as its nodes name them. */
export class CallRecognizers {
  readonly transcription: CallTranscription;
  readonly #deps: CallRecognizersDeps;
  #current: Recognizer;
  /** What the last node wanted. */
  #wanted = '';

  constructor(deps: CallRecognizersDeps) {
    this.#deps = deps;
    this.#current = deps.speechToText;
    this.transcription = this.#createTranscription();
    // Else the first node says which vendor hears the caller.
    if (!deps.callSpeech) this.transcription.use([deps.speechToText]);
  }

  /** Of the vendor that hears the caller. */
  get name(): string {
    return this.#current.name;
  }

  onNode({ speech }: CurrentNode): void {
    const { callSpeech, settings } = this.#deps;
    const wanted = JSON.stringify([speech.recognition, speech.fallback?.recognition, languageHint(settings)]);
    if (!callSpeech || wanted === this.#wanted) return;
    this.#wanted = wanted;
    void callSpeech.recognizersFor(speech).then((recognizers) => {
      if (this.#wanted === wanted) this.transcription.use(recognizers);
    });
  }

  /** A vendor was left for the next one, which may not tell turns. */
  onFallback(): void {
    this.#deps.settings.useRecognizer(recognizerAbilities(this.#current));
  }

  #createTranscription(): CallTranscription {
    const { stream, settings, callSpeech, onError, ...deps } = this.#deps;
    return new CallTranscription({
      ...deps,
      sampleRateHz: stream.info.sampleRateHz,
      receivedSamples: () => stream.receivedSamples,
      hints: () => ({
        ...languageHint(settings),
        expectedAnswers: settings.expectedAnswers,
        keyterms: settings.node?.speech.recognition?.keyterms,
      }),
      onFailed: (error) => onError(error, 'speech recognition lost'),
      onFallback: (from, to, error) => callSpeech?.leave('recognition', from, to, error),
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
