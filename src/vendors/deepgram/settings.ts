export const DEEPGRAM_BASE_URL = 'https://api.deepgram.com';

/** The settings that both protocols need. */
export interface DeepgramSettings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly options: unknown;
}

export function authorization(apiKey: string | undefined): { headers?: Record<string, string> } {
  return apiKey === undefined ? {} : { headers: { authorization: `Token ${apiKey}` } };
}
