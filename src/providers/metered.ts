import type { ChatModel } from './chatModel.ts';
import type { Embedder } from './embedder.ts';
import { ModelError, type ModelErrorCode } from './modelError.ts';
import type { SpeechToText, Transcription } from './speechToText.ts';
import type { TextToSpeech } from './textToSpeech.ts';

/** Told of what comes out of a model. Neither is told of what its user aborted. */
export interface ModelWatch {
  readonly onError: (code: ModelErrorCode) => void;
  /** How long its user waited for the first of an answer: a word, samples, or all where it comes as a whole. */
  readonly onAnswer: (waitedMs: number) => void;
  /** Of a clock that only goes on. */
  readonly nowMs: () => number;
}

export function meteredChat(model: ChatModel, watch: ModelWatch): ChatModel {
  return { name: model.name, stream: (request, signal) => watched(model.stream(request, signal), watch) };
}

export function meteredSpeech(speech: TextToSpeech, watch: ModelWatch): TextToSpeech {
  const { name, sampleRateHz, isCacheable } = speech;
  return {
    name,
    sampleRateHz,
    isCacheable,
    speak: (request, signal) => watched(speech.speak(request, signal), watch),
    close: () => speech.close(),
  };
}

export function meteredRecogniser(recogniser: SpeechToText, watch: ModelWatch): SpeechToText {
  return {
    name: recogniser.name,
    open(request): Transcription {
      const transcription = recogniser.open(request);
      return {
        push: (samples) => transcription.push(samples),
        transcribe: (signal) => answered(() => transcription.transcribe(signal), watch),
        close: () => transcription.close(),
      };
    },
    close: () => recogniser.close(),
  };
}

export function meteredEmbedder(embedder: Embedder, watch: ModelWatch): Embedder {
  const { encoder, batchSize } = embedder;
  return {
    encoder,
    batchSize,
    embed: (texts, signal) => answered(() => embedder.embed(texts, signal), watch),
  };
}

/** Passes reads on one by one: a generator would let nobody leave while a read is pending. */
function watched<Item>(source: AsyncIterable<Item>, watch: ModelWatch): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const items = source[Symbol.asyncIterator]();
      let isBegun = false;
      return {
        next() {
          if (isBegun) return items.next().catch(counted(watch));
          isBegun = true;
          return answered(() => items.next(), watch);
        },
        return: async () => (await items.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

async function answered<Answer>(ask: () => Promise<Answer>, watch: ModelWatch): Promise<Answer> {
  const askedMs = watch.nowMs();
  const answer = await ask().catch(counted(watch));
  watch.onAnswer(watch.nowMs() - askedMs);
  return answer;
}

function counted({ onError }: ModelWatch): (error: unknown) => never {
  return (error) => {
    if (error instanceof ModelError) onError(error.code);
    throw error;
  };
}
