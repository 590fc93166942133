import { OPENAI_EMBEDDING_MODELS } from '../ports/embedder.ts';
import type { SpeechToText } from '../ports/speechToText.ts';
import type { TextToSpeech } from '../ports/textToSpeech.ts';
import type {
  ChatOptions,
  EmbeddingProvider,
  ProviderOptions,
  SpeechToTextOptions,
  TextToSpeechOptions,
} from '../providerOptions.ts';
import type { ChatProvider } from '../streamWithRetry.ts';
import { createOpenAiChat } from './chat.ts';
import { createOpenAiEmbedder } from './embedder.ts';
import { createOpenAiEndpoint } from './endpoint.ts';
import { createOpenAiSpeechToText } from './speechToText.ts';
import { createOpenAiTextToSpeech } from './textToSpeech.ts';

export function createChat({ credentials, makeId }: ChatOptions): ChatProvider {
  return createOpenAiChat({ endpoint: createOpenAiEndpoint(credentials), makeId });
}

export function createSpeechToText(options: SpeechToTextOptions): SpeechToText {
  return createOpenAiSpeechToText({ ...options, endpoint: createOpenAiEndpoint(options.credentials) });
}

export function createTextToSpeech(options: TextToSpeechOptions): TextToSpeech {
  return createOpenAiTextToSpeech({ ...options, endpoint: createOpenAiEndpoint(options.credentials) });
}

export function createEmbeddings({ credentials }: ProviderOptions): EmbeddingProvider {
  const endpoint = createOpenAiEndpoint(credentials);
  return {
    embedders: Object.values(OPENAI_EMBEDDING_MODELS).map(({ name }) => createOpenAiEmbedder(endpoint, name)),
    close: () => endpoint.close(),
  };
}
