import type { ChatModel } from './ports/chatModel.ts';
import type { Embedder } from './ports/embedder.ts';
import type { ProviderMetrics } from './ports/metrics.ts';
import { ModelError } from './ports/modelError.ts';
import type { RecognitionStream, SpeechToText } from './ports/speechToText.ts';
import type { TextToSpeech } from './ports/textToSpeech.ts';

export function meteredChat(model: ChatModel, watch: ProviderMetrics): ChatModel {
  return { name: model.name, stream: (request, signal) => watched(model.stream(request, signal), watch) };
}

export function meteredSpeech(speech: TextToSpeech, watch: ProviderMetrics): TextToSpeech {
  const { name, sampleRateHz, isCacheable } = speech;
  return {
    name,
    sampleRateHz,
    isCacheable,
    synthesize: (request, signal) => watched(speech.synthesize(request, signal), watch),
    close: () => speech.close(),
  };
}

export function meteredRecogniser(recogniser: SpeechToText, watch: ProviderMetrics): SpeechToText {
  return {
    name: recogniser.name,
    openStream(request): RecognitionStream {
      const transcription = recogniser.openStream(request);
      return {
        push: (samples) => transcription.push(samples),
        finalize: (signal) => answered(() => transcription.finalize(signal), watch),
        close: () => transcription.close(),
      };
    },
    close: () => recogniser.close(),
  };
}

export function meteredEmbedder(embedder: Embedder, watch: ProviderMetrics): Embedder {
  const { model: encoder, batchSize } = embedder;
  return {
    model: encoder,
    batchSize,
    embed: (texts, signal) => answered(() => embedder.embed(texts, signal), watch),
  };
}

/** Passes reads on one by one: a generator would let nobody leave while a read is pending. */
function watched<Item>(source: AsyncIterable<Item>, watch: ProviderMetrics): AsyncIterable<Item> {
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

async function answered<Answer>(ask: () => Promise<Answer>, watch: ProviderMetrics): Promise<Answer> {
  const askedMs = watch.nowMs();
  const answer = await ask().catch(counted(watch));
  watch.recordFirstOutput(watch.nowMs() - askedMs);
  return answer;
}

function counted({ recordError: onError }: ProviderMetrics): (error: unknown) => never {
  return (error) => {
    if (error instanceof ModelError) onError(error.code);
    throw error;
  };
}
