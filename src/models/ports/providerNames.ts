export const CHAT_ENDPOINTS = ['openai', 'anthropic', 'google', 'local'] as const;

/** The speech-to-speech engines by their names in agents. */
export const ENGINE_PROVIDERS = ['openai-realtime', 'gemini-live', 'custom'] as const;

export type ChatEndpoint = (typeof CHAT_ENDPOINTS)[number];
export type EngineProvider = (typeof ENGINE_PROVIDERS)[number];

export function engineCredentialName(provider: EngineProvider) {
  const names = { 'openai-realtime': 'openai', 'gemini-live': 'google', custom: 'custom_s2s' } as const;
  return names[provider];
}
