import type { ChatProvider } from '../../models/chat/chatClient.ts';
import type { SpeechToText } from '../../models/ports/speechToText.ts';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type {
  ChatOptions,
  EmbeddingProvider,
  ProviderOptions,
  SpeechToTextOptions,
} from '../../models/providerOptions.ts';
import { createRehearsalChat } from './chat.ts';
import { createLocalEmbedder } from './embedder.ts';
import { createLocalSpeechToText, findPocketsphinx, INSTALL_COMMAND } from './speechToText.ts';
import { createLocalTextToSpeech } from './textToSpeech.ts';

export function createChat({ makeId, warn }: ChatOptions): ChatProvider {
  warn('no chat model configured: the rehearsal model answers by rules', {
    settings: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  });
  return createRehearsalChat({ makeId });
}

export async function createSpeechToText({ searchPath, warn }: SpeechToTextOptions): Promise<SpeechToText> {
  if (!(await findPocketsphinx(searchPath)))
    warn('speech is not recognized: pocketsphinx is not installed; DTMF digits work', {
      install: INSTALL_COMMAND,
    });
  return createLocalSpeechToText({ searchPath });
}

/** Starts a thread, so that the first caller does not wait for it. */
export function createTextToSpeech({ warn }: ProviderOptions): TextToSpeech {
  const textToSpeech = createLocalTextToSpeech();
  const preload = async () => {
    const { signal } = new AbortController();
    for await (const _samples of textToSpeech.synthesize({ text: 'Hello.' }, signal)) return;
  };
  preload().catch((err: unknown) => warn('offline speech synthesis failed to start', { err }));
  return textToSpeech;
}

export function createEmbeddings(): EmbeddingProvider {
  const embedder = createLocalEmbedder();
  return { embedders: [embedder], close: () => embedder.close() };
}
