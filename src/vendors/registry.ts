import type { ChatProvider } from '../models/chat/chatClient.ts';
import type {
  ChatEndpoint,
  EngineProvider,
  RecognitionProvider,
  SynthesisProvider,
} from '../models/ports/providerNames.ts';
import type { Recognizer } from '../models/ports/recognizer.ts';
import type { SpeechToSpeech } from '../models/ports/speechToSpeech.ts';
import type { StreamingSpeechToText } from '../models/ports/streamingSpeechToText.ts';
import type { Synthesizer } from '../models/ports/synthesizer.ts';
import type {
  ChatOptions,
  EmbeddingProvider,
  ProviderOptions,
  SpeechToSpeechOptions,
  SpeechToTextOptions,
  TextToSpeechOptions,
} from '../models/providerOptions.ts';

type Factory<Options, Provider> = (options: Options) => Promise<Provider>;

/*
 * The vendors of each kind, by the names that settings use. Their code is loaded only where they are configured. A new
 * vendor is a folder with a `provider.ts`, its name in `ports/providerNames.ts`, and a line below for each thing that
 * it does.
 */

export const CHAT_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createChat(options),
  anthropic: async (options) => (await import('./anthropic/provider.ts')).createChat(options),
  google: async (options) => (await import('./openai/provider.ts')).createGoogleChat(options),
  local: async (options) => (await import('./local/provider.ts')).createChat(options),
} satisfies Record<ChatEndpoint, Factory<ChatOptions, ChatProvider>>;

export const STT_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createSpeechToText(options),
  deepgram: async (options) => (await import('./deepgram/provider.ts')).createSpeechToText(options),
  assemblyai: async (options) => (await import('./assemblyai/provider.ts')).createSpeechToText(options),
  soniox: async (options) => (await import('./soniox/provider.ts')).createSpeechToText(options),
  custom: async (options) => (await import('./custom/provider.ts')).createSpeechToText(options),
  local: async (options) => (await import('./local/provider.ts')).createSpeechToText(options),
} satisfies Record<RecognitionProvider, Factory<SpeechToTextOptions, Recognizer>>;

/** Vendors that hear the whole stream. OpenAI's endpoint of {@link STT_PROVIDERS} takes an utterance at a time. */
export const STREAMING_STT_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createStreamingSpeechToText(options),
  deepgram: STT_PROVIDERS.deepgram,
  assemblyai: STT_PROVIDERS.assemblyai,
  soniox: STT_PROVIDERS.soniox,
  custom: STT_PROVIDERS.custom,
} satisfies Record<string, Factory<SpeechToTextOptions, StreamingSpeechToText>>;

export const TTS_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createTextToSpeech(options),
  elevenlabs: async (options) => (await import('./elevenlabs/provider.ts')).createTextToSpeech(options),
  cartesia: async (options) => (await import('./cartesia/provider.ts')).createTextToSpeech(options),
  deepgram: async (options) => (await import('./deepgram/provider.ts')).createTextToSpeech(options),
  custom: async (options) => (await import('./custom/provider.ts')).createTextToSpeech(options),
  local: async (options) => (await import('./local/provider.ts')).createTextToSpeech(options),
} satisfies Record<SynthesisProvider, Factory<TextToSpeechOptions, Synthesizer>>;

export const ENGINES = {
  'openai-realtime': async (options) => (await import('./openai/provider.ts')).createSpeechToSpeech(options),
  'gemini-live': async (options) => (await import('./google/provider.ts')).createSpeechToSpeech(options),
  custom: async (options) => (await import('./openai/provider.ts')).createCustomSpeechToSpeech(options),
} satisfies Record<EngineProvider, Factory<SpeechToSpeechOptions, SpeechToSpeech>>;

/** The vendors with an API that says whether they have a voice. */
export const VOICE_LOOKUPS = {
  elevenlabs: async () => (await import('./elevenlabs/provider.ts')).lookUpVoice,
  cartesia: async () => (await import('./cartesia/provider.ts')).lookUpVoice,
  deepgram: async () => (await import('./deepgram/provider.ts')).lookUpVoice,
} satisfies Partial<Record<SynthesisProvider, () => Promise<unknown>>>;

export const EMBEDDING_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createEmbeddings(options),
  local: async () => (await import('./local/provider.ts')).createEmbeddings(),
} satisfies Record<string, Factory<ProviderOptions, EmbeddingProvider>>;

export type ChatProviderName = keyof typeof CHAT_PROVIDERS;
export type SttProviderName = keyof typeof STT_PROVIDERS;
export type TtsProviderName = keyof typeof TTS_PROVIDERS;
export type EmbeddingProviderName = keyof typeof EMBEDDING_PROVIDERS;
