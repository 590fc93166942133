import type {
  RecognitionEvent,
  StreamingSpeechToText,
} from '../../../src/models/ports/streamingSpeechToText.ts';

/** A streaming recognizer that hears what the test tells. */
export interface ScriptedRecognizer extends StreamingSpeechToText {
  emit(event: RecognitionEvent): void;
  interim(text: string): void;
  final(text: string): void;
  /** How often it was asked for a final transcript. */
  finalized: number;
  /** Samples that it was given. */
  heardSamples: number;
}

export function scriptedRecognizer(detectsTurns: boolean): ScriptedRecognizer {
  let onEvent: (event: RecognitionEvent) => void = () => undefined;
  const recognizer: ScriptedRecognizer = {
    name: 'scripted',
    detectsTurns,
    finalized: 0,
    heardSamples: 0,
    connect(_options, listener) {
      onEvent = listener;
      return {
        push(samples) {
          recognizer.heardSamples += samples.length;
        },
        finalize() {
          recognizer.finalized += 1;
          return true;
        },
        close: () => undefined,
      };
    },
    emit: (event) => onEvent(event),
    interim: (text) => onEvent({ type: 'interim', transcript: { text } }),
    final: (text) => onEvent({ type: 'final', transcript: { text } }),
    close: async () => undefined,
  };
  return recognizer;
}
