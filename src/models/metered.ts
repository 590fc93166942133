import type { ChatModel } from './chatModel.ts';
import type { Embedder } from './embedder.ts';
import { ModelError, type ModelErrorCode } from './modelError.ts';
import type { SpeechToText, Transcription } from './speechToText.ts';
import type { TextToSpeech } from './textToSpeech.ts';

/** Told of each failure that comes out of a model; what its user aborted is none. */
export type OnModelError = (code: ModelErrorCode) => void;

export function meteredChat(model: ChatModel, onError: OnModelError): ChatModel {
  return { name: model.name, stream: (request, signal) => watched(model.stream(request, signal), onError) };
}

export function meteredSpeech(speech: TextToSpeech, onError: OnModelError): TextToSpeech {
  const { name, sampleRateHz, isCacheable } = speech;
  return {
    name,
    sampleRateHz,
    isCacheable,
    speak: (request, signal) => watched(speech.speak(request, signal), onError),
    close: () => speech.close(),
  };
}

export function meteredRecogniser(recogniser: SpeechToText, onError: OnModelError): SpeechToText {
  return {
    name: recogniser.name,
    open(request): Transcription {
      const transcription = recogniser.open(request);
      return {
        push: (samples) => transcription.push(samples),
        transcribe: (signal) => transcription.transcribe(signal).catch(counted(onError)),
        close: () => transcription.close(),
      };
    },
    close: () => recogniser.close(),
  };
}

export function meteredEmbedder(embedder: Embedder, onError: OnModelError): Embedder {
  const { encoder, batchSize } = embedder;
  return {
    encoder,
    batchSize,
    embed: (texts, signal) => embedder.embed(texts, signal).catch(counted(onError)),
  };
}

/** Passes reads on one by one: a generator would let nobody leave while a read is pending. */
function watched<Item>(source: AsyncIterable<Item>, onError: OnModelError): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const items = source[Symbol.asyncIterator]();
      return {
        next: () => items.next().catch(counted(onError)),
        return: async () => (await items.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

function counted(onError: OnModelError): (error: unknown) => never {
  return (error) => {
    if (error instanceof ModelError) onError(error.code);
    throw error;
  };
}
