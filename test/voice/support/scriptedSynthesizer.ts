import type {
  StreamingTextToSpeech,
  SynthesisEvent,
} from '../../../src/models/ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../../../src/models/ports/textToSpeech.ts';

/** Duration of each word. */
export const STREAMED_WORD_MS = 200;
const SAMPLE_RATE_HZ = 8000;

/** One text, as it was asked for. */
export interface SpokenRequest {
  text: string;
  isEnded: boolean;
  isCancelled: boolean;
  isPaused: boolean;
  readonly voice: SpokenVoice;
  emit(event: SynthesisEvent): void;
}

/** A streaming synthesizer. By itself it speaks each word for 200 ms as soon as it is written, and tells its time. */
export interface ScriptedSynthesizer extends StreamingTextToSpeech {
  readonly requests: SpokenRequest[];
  /** The test emits the events. */
  isManual: boolean;
}

export function scriptedSynthesizer(): ScriptedSynthesizer {
  const hum = new Int16Array((SAMPLE_RATE_HZ * STREAMED_WORD_MS) / 1000).map((_, at) =>
    Math.floor(at / 56) % 2 === 0 ? 5000 : -5000,
  );
  const synthesizer: ScriptedSynthesizer = {
    name: 'scripted',
    sampleRateHz: SAMPLE_RATE_HZ,
    requests: [],
    isManual: false,
    connect: () => ({
      speak(voice, onEvent) {
        const request: SpokenRequest = {
          text: '',
          isEnded: false,
          isCancelled: false,
          isPaused: false,
          voice,
          emit: onEvent,
        };
        synthesizer.requests.push(request);
        let words = 0;
        return {
          write(text) {
            request.text += text;
            for (const word of synthesizer.isManual ? [] : (text.match(/\S+/g) ?? [])) {
              const startMs = words * STREAMED_WORD_MS;
              words += 1;
              onEvent({ type: 'words', words: [{ word, startMs, endMs: startMs + STREAMED_WORD_MS }] });
              onEvent({ type: 'samples', samples: hum.slice() });
            }
          },
          end() {
            request.isEnded = true;
            if (!synthesizer.isManual) onEvent({ type: 'done' });
          },
          pause() {
            request.isPaused = true;
          },
          resume() {
            request.isPaused = false;
          },
          cancel() {
            request.isCancelled = true;
          },
        };
      },
      close: () => undefined,
    }),
    close: async () => undefined,
  };
  return synthesizer;
}
