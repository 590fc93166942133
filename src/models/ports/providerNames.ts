/** The vendors of speech recognition, as settings and agents name them. */
export const RECOGNITION_PROVIDERS = [
  'openai',
  'deepgram',
  'assemblyai',
  'soniox',
  'custom',
  'local',
] as const;
/** The providers of speech synthesis. */
export const SYNTHESIS_PROVIDERS = [
  'openai',
  'elevenlabs',
  'cartesia',
  'deepgram',
  'custom',
  'local',
] as const;
/** The endpoints for chat. */
export const CHAT_ENDPOINTS = ['openai', 'anthropic', 'google', 'local'] as const;

/** The speech-to-speech engines by their names in agents. */
export const ENGINE_PROVIDERS = ['openai-realtime', 'gemini-live', 'custom'] as const;

export type RecognitionProvider = (typeof RECOGNITION_PROVIDERS)[number];
export type SynthesisProvider = (typeof SYNTHESIS_PROVIDERS)[number];
export type ChatEndpoint = (typeof CHAT_ENDPOINTS)[number];
export type EngineProvider = (typeof ENGINE_PROVIDERS)[number];

/** A carrier, whose token signs audio streams. */
export const TWILIO = 'twilio';

type Vendor = Exclude<RecognitionProvider | SynthesisProvider | ChatEndpoint, 'local' | 'custom'>;

/** A vendor's credentials have its name; servers of one's own differ by what they do. */
export type CredentialName = Vendor | 'custom_stt' | 'custom_tts' | 'custom_s2s' | typeof TWILIO;

/** The names of all providers that take a key. */
export const CREDENTIAL_NAMES: readonly CredentialName[] = [
  ...new Set<CredentialName | undefined>([
    ...RECOGNITION_PROVIDERS.map((name) => credentialName('stt', name)),
    ...SYNTHESIS_PROVIDERS.map((name) => credentialName('tts', name)),
    ...CHAT_ENDPOINTS.map((name) => credentialName('chat', name)),
    ...ENGINE_PROVIDERS.map(engineCredentialName),
    TWILIO,
  ]),
].filter((name) => name !== undefined);

/** @returns Undefined for a provider without credentials. */
export function credentialName(
  kind: 'stt' | 'tts' | 'chat',
  provider: RecognitionProvider | SynthesisProvider | ChatEndpoint,
): CredentialName | undefined {
  if (provider === 'local') return undefined;
  if (provider !== 'custom') return provider;
  return kind === 'stt' ? 'custom_stt' : 'custom_tts';
}

export function engineCredentialName(provider: EngineProvider): CredentialName {
  const names = { 'openai-realtime': 'openai', 'gemini-live': 'google', custom: 'custom_s2s' } as const;
  return names[provider];
}
