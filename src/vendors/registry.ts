import type { ChatProvider } from '../models/chat/chatClient.ts';
import type { ChatEndpoint, EngineProvider } from '../models/ports/providerNames.ts';
import type { Recognizer } from '../models/ports/recognizer.ts';
import type { SpeechToSpeech } from '../models/ports/speechToSpeech.ts';
import type { StreamingSpeechToText } from '../models/ports/streamingSpeechToText.ts';
import type { Synthesizer } from '../models/ports/synthesizer.ts';
import type { RecognitionVendor, SynthesisVendor, Vendor } from '../models/ports/vendor.ts';
import { hasLanguage } from '../models/ports/vendor.ts';
import type {
  ChatOptions,
  EmbeddingProvider,
  ProviderOptions,
  SpeechToSpeechOptions,
  SpeechToTextOptions,
  TextToSpeechOptions,
} from '../models/providerOptions.ts';
import type { VoiceLookup } from '../models/voiceLookup.ts';

import { assemblyai } from './assemblyai/vendor.ts';
import { cartesia } from './cartesia/vendor.ts';
import { custom } from './custom/vendor.ts';
import { deepgram } from './deepgram/vendor.ts';
import { elevenlabs } from './elevenlabs/vendor.ts';
import { local } from './local/vendor.ts';
import { openai } from './openai/vendor.ts';
import { soniox } from './soniox/vendor.ts';

type Factory<Options, Provider> = (options: Options) => Promise<Provider>;

/*
 * The vendors of each kind, by the names that settings use. Their code is loaded only where they are configured. A new
 * vendor of speech is a folder with a `vendor.ts`, its name in `VENDORS`, and a line below for each thing that it does.
 */

/** What the vendors of speech say of themselves. */
export const VENDORS = {
  openai,
  elevenlabs,
  cartesia,
  deepgram,
  assemblyai,
  soniox,
  custom,
  local,
} as const satisfies Record<string, Vendor>;

type Vendors<Capability extends keyof Vendor, Entry> = {
  readonly [Name in keyof typeof VENDORS as (typeof VENDORS)[Name] extends Record<Capability, unknown>
    ? Name
    : never]: Entry;
};

export const CHAT_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createChat(options),
  anthropic: async (options) => (await import('./anthropic/provider.ts')).createChat(options),
  google: async (options) => (await import('./openai/provider.ts')).createGoogleChat(options),
  local: async (options) => (await import('./local/provider.ts')).createChat(options),
} satisfies Record<ChatEndpoint, Factory<ChatOptions, ChatProvider>>;

export const STT_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createSpeechToText(options),
  deepgram: async (options) => (await import('./deepgram/speechToText.ts')).createSpeechToText(options),
  assemblyai: async (options) => (await import('./assemblyai/speechToText.ts')).createSpeechToText(options),
  soniox: async (options) => (await import('./soniox/speechToText.ts')).createSpeechToText(options),
  custom: async (options) => (await import('./custom/speechToText.ts')).createSpeechToText(options),
  local: async (options) => (await import('./local/provider.ts')).createSpeechToText(options),
} satisfies Vendors<'recognition', Factory<SpeechToTextOptions, Recognizer>>;

/** OpenAI's recognizer of the whole stream. Its endpoint of {@link STT_PROVIDERS} takes an utterance at a time. */
export const openAiStreamingStt: Factory<SpeechToTextOptions, StreamingSpeechToText> = async (options) =>
  (await import('./openai/provider.ts')).createStreamingSpeechToText(options);

export const TTS_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createTextToSpeech(options),
  elevenlabs: async (options) => (await import('./elevenlabs/textToSpeech.ts')).createTextToSpeech(options),
  cartesia: async (options) => (await import('./cartesia/textToSpeech.ts')).createTextToSpeech(options),
  deepgram: async (options) => (await import('./deepgram/textToSpeech.ts')).createTextToSpeech(options),
  custom: async (options) => (await import('./custom/textToSpeech.ts')).createTextToSpeech(options),
  local: async (options) => (await import('./local/provider.ts')).createTextToSpeech(options),
} satisfies Vendors<'synthesis', Factory<TextToSpeechOptions, Synthesizer>>;

export const ENGINES = {
  'openai-realtime': async (options) => (await import('./openai/provider.ts')).createSpeechToSpeech(options),
  'gemini-live': async (options) => (await import('./google/provider.ts')).createSpeechToSpeech(options),
  custom: async (options) => (await import('./openai/provider.ts')).createCustomSpeechToSpeech(options),
} satisfies Record<EngineProvider, Factory<SpeechToSpeechOptions, SpeechToSpeech>>;

/** The vendors with an API that says whether they have a voice. */
export const VOICE_LOOKUPS = {
  elevenlabs: async () => (await import('./elevenlabs/textToSpeech.ts')).lookUpVoice,
  cartesia: async () => (await import('./cartesia/textToSpeech.ts')).lookUpVoice,
  deepgram: async () => (await import('./deepgram/textToSpeech.ts')).lookUpVoice,
} satisfies Partial<Record<SynthesisProvider, () => Promise<VoiceLookup>>>;

export const EMBEDDING_PROVIDERS = {
  openai: async (options) => (await import('./openai/provider.ts')).createEmbeddings(options),
  local: async () => (await import('./local/provider.ts')).createEmbeddings(),
} satisfies Record<string, Factory<ProviderOptions, EmbeddingProvider>>;

export type ChatProviderName = keyof typeof CHAT_PROVIDERS;
export type EmbeddingProviderName = keyof typeof EMBEDDING_PROVIDERS;
/** The vendors of speech recognition, as settings and agents name them. */
export type RecognitionProvider = keyof typeof STT_PROVIDERS;
/** The vendors of speech synthesis, as settings and agents name them. */
export type SynthesisProvider = keyof typeof TTS_PROVIDERS;
export type SpeechVendor = keyof typeof VENDORS;

export const RECOGNITION_PROVIDERS = Object.keys(STT_PROVIDERS) as RecognitionProvider[];
export const SYNTHESIS_PROVIDERS = Object.keys(TTS_PROVIDERS) as SynthesisProvider[];

export const recognitionVendor = (name: RecognitionProvider): RecognitionVendor => VENDORS[name].recognition;
export const synthesisVendor = (name: SynthesisProvider): SynthesisVendor => VENDORS[name].synthesis;

/** Returns the languages that a provider's model is not known to support. */
export function unheardLanguages(
  provider: RecognitionProvider,
  model: string | undefined,
  tags: readonly string[],
): readonly string[] {
  const heard = recognitionVendor(provider).languages?.(model, tags);
  return heard ? tags.filter((tag) => !hasLanguage(heard, tag)) : [];
}
