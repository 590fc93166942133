import type { Clock } from '../../base/values/clock.ts';
import type { RecognizerAbilities } from '../../conversation/turnDetection/endpointing.ts';
import type { TurnSignal } from '../../conversation/turnDetection/turnState.ts';
import type { ModelError } from '../../models/ports/modelError.ts';
import { isStreaming, type Recognizer } from '../../models/ports/recognizer.ts';
import type { RecognitionOptions, Transcript } from '../../models/ports/speechToText.ts';
import type { RecognitionConnectionOptions } from '../../models/ports/streamingSpeechToText.ts';
import type { ThreadTime } from '../threadTime.ts';
import { StreamTranscription } from './streamTranscription.ts';
import { type Transcription, UtteranceTranscription } from './transcription.ts';

export type RecognitionHints = Omit<RecognitionConnectionOptions, 'sampleRateHz'> &
  Pick<RecognitionOptions, 'expectedAnswers'>;

export interface TranscriptionOptions {
  readonly clock: Clock;
  /** Accounts for what the recognizer tells; undefined when that is not counted. */
  readonly threadTime?: ThreadTime | undefined;
  readonly sampleRateHz: number;
  /** The stream's clock at the first sample. */
  readonly startSamples: number;
  /** Read when a recognition starts. */
  readonly hints: () => RecognitionHints;
  /** Transcript so far of the open utterance; vendors without interim transcripts never call it. */
  readonly onInterim: (text: string) => void;
  /** The words that answered a request have changed. */
  readonly onRevised: (transcript: Transcript) => void;
  readonly onTurnSignal: (signal: TurnSignal) => void;
  /** The recognizer is lost. */
  readonly onFailed: (error: ModelError) => void;
  /** Whether another recognizer takes over when this one is lost. */
  readonly hasFallback: () => boolean;
}

/** Starts the transcription of one stream. */
export function openTranscription(
  speechToText: Recognizer,
  { hints, startSamples, ...options }: TranscriptionOptions,
): Transcription {
  const { sampleRateHz } = options;
  if (!isStreaming(speechToText)) return new UtteranceTranscription({ ...options, speechToText, hints });
  const { expectedAnswers: _, ...connectionHints } = hints();
  return new StreamTranscription({
    ...options,
    speechToText,
    options: { sampleRateHz, ...connectionHints },
    startMs: (startSamples * 1000) / sampleRateHz,
  });
}

export function recognizerAbilities(speechToText: Recognizer): RecognizerAbilities {
  if (!isStreaming(speechToText)) return { isStreaming: false, detectsTurns: false };
  return { isStreaming: true, detectsTurns: speechToText.detectsTurns };
}
