import type { Usage } from './ports/chatModel.ts';
import { isStreaming, type Recognizer } from './ports/recognizer.ts';
import type { SpeechToSpeech } from './ports/speechToSpeech.ts';
import type { SpeechToText } from './ports/speechToText.ts';
import type { StreamingSpeechToText } from './ports/streamingSpeechToText.ts';
import type { StreamingTextToSpeech } from './ports/streamingTextToSpeech.ts';
import { type Synthesizer, takesWords } from './ports/synthesizer.ts';
import type { TextToSpeech } from './ports/textToSpeech.ts';

/** Audio is counted in parts, so that a long call counts before it ends. */
const PART_MS = 10_000;

/** Counts the audio that a recognizer takes, silence included, in milliseconds. */
export function countedRecognizer(recognizer: Recognizer, count: (heardMs: number) => void): Recognizer {
  return isStreaming(recognizer) ? countedStreams(recognizer, count) : countedUtterances(recognizer, count);
}

/** Counts the characters that a synthesizer speaks; what it has failed to speak does not count. */
export function countedSynthesizer(
  synthesizer: Synthesizer,
  count: (characters: number) => void,
): Synthesizer {
  return takesWords(synthesizer) ? countedWords(synthesizer, count) : countedTexts(synthesizer, count);
}

/** Counts the tokens of a speech-to-speech model, those of cancelled answers included. */
export function countedEngine(engine: SpeechToSpeech, count: (usage: Usage) => void): SpeechToSpeech {
  return {
    name: engine.name,
    model: engine.model,
    sampleRateHz: engine.sampleRateHz,
    close: () => engine.close(),
    connect: (options, onEvent) =>
      engine.connect(options, (event) => {
        if ((event.type === 'done' || event.type === 'usage') && event.usage) count(event.usage);
        onEvent(event);
      }),
  };
}

function countedStreams(
  recognizer: StreamingSpeechToText,
  count: (heardMs: number) => void,
): StreamingSpeechToText {
  return {
    get name() {
      return recognizer.name;
    },
    get detectsTurns() {
      return recognizer.detectsTurns;
    },
    maxAgeMs: recognizer.maxAgeMs,
    select: (options) => countedStreams(recognizer.select?.(options) ?? recognizer, count),
    close: () => recognizer.close(),
    connect(options, onEvent) {
      const audio = new CountedAudio(options.sampleRateHz, count);
      let isConnected = false;
      const connection = recognizer.connect(options, (event) => {
        isConnected ||= event.type === 'connected';
        onEvent(event);
      });
      return {
        push(samples) {
          audio.add(samples.length);
          if (isConnected) audio.countParts();
          connection.push(samples);
        },
        finalize: () => connection.finalize(),
        leave: connection.leave?.bind(connection),
        close() {
          if (isConnected) audio.countAll();
          connection.close();
        },
      };
    },
  };
}

function countedUtterances(recognizer: SpeechToText, count: (heardMs: number) => void): SpeechToText {
  return {
    get name() {
      return recognizer.name;
    },
    isAskedOnce: recognizer.isAskedOnce,
    close: () => recognizer.close(),
    openStream(request) {
      const audio = new CountedAudio(request.sampleRateHz, count);
      const stream = recognizer.openStream(request);
      return {
        push(samples) {
          audio.add(samples.length);
          stream.push(samples);
        },
        async finalize(signal, isInterim) {
          const transcript = await stream.finalize(signal, isInterim);
          audio.countAll();
          return transcript;
        },
        close: () => stream.close(),
      };
    },
  };
}

function countedTexts(synthesizer: TextToSpeech, count: (characters: number) => void): TextToSpeech {
  return {
    name: synthesizer.name,
    sampleRateHz: synthesizer.sampleRateHz,
    isCacheable: synthesizer.isCacheable,
    close: () => synthesizer.close(),
    async *synthesize(request, signal) {
      let isCounted = false;
      for await (const samples of synthesizer.synthesize(request, signal)) {
        if (!isCounted) count(request.text.length);
        isCounted = true;
        yield samples;
      }
    },
  };
}

function countedWords(
  synthesizer: StreamingTextToSpeech,
  count: (characters: number) => void,
): StreamingTextToSpeech {
  return {
    name: synthesizer.name,
    sampleRateHz: synthesizer.sampleRateHz,
    close: () => synthesizer.close(),
    connect(preparedFor) {
      const connection = synthesizer.connect(preparedFor);
      return {
        close: () => connection.close(),
        speak(voice, onEvent) {
          let written = 0;
          const stream = connection.speak(voice, (event) => {
            if (written > 0 && (event.type === 'samples' || event.type === 'done')) {
              count(written);
              written = 0;
            }
            onEvent(event);
          });
          return {
            write(text) {
              written += text.length;
              stream.write(text);
            },
            end: () => stream.end(),
            pause: () => stream.pause(),
            resume: () => stream.resume(),
            cancel: () => stream.cancel(),
          };
        },
      };
    },
  };
}

/** Audio of one connection that is not counted yet. */
class CountedAudio {
  readonly #sampleRateHz: number;
  readonly #count: (heardMs: number) => void;
  #samples = 0;

  constructor(sampleRateHz: number, count: (heardMs: number) => void) {
    this.#sampleRateHz = sampleRateHz;
    this.#count = count;
  }

  add(samples: number): void {
    this.#samples += samples;
  }

  countParts(): void {
    if (this.#samples * 1000 >= PART_MS * this.#sampleRateHz) this.countAll();
  }

  countAll(): void {
    if (this.#samples > 0) this.#count(Math.round((this.#samples * 1000) / this.#sampleRateHz));
    this.#samples = 0;
  }
}
