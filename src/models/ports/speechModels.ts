/*
 * OpenAI's speech models of calls whose agent and installation name none.
 */

/** OpenAI's model that transcribes one whole utterance per request. */
export const OPENAI_TRANSCRIPTION_MODEL = 'gpt-transcribe';
/** OpenAI's model that transcribes while the person speaks. Other models return the words after the turn. */
export const OPENAI_LIVE_TRANSCRIPTION_MODEL = 'gpt-realtime-whisper';
export const OPENAI_REALTIME_MODEL = 'gpt-realtime-2.1';
/** Reads aloud by the Realtime API: OpenAI shuts its speech endpoint's models down on 2027-01-06. */
export const OPENAI_SPEECH_MODEL = 'gpt-realtime-2.1-mini';
export const OPENAI_VOICE = 'alloy';
/** Names that servers like OpenAI's map to a model of their own. */
export const COMPATIBLE_TRANSCRIPTION_MODEL = 'whisper-1';
const COMPATIBLE_SPEECH_MODEL = 'tts-1';

/** Returns true when a base URL is OpenAI's own, in any of its regions. @param baseUrl - Undefined for the default. */
export function isOpenAi(baseUrl: string | undefined): boolean {
  return baseUrl === undefined || new URL(baseUrl).hostname.endsWith('.openai.com');
}

/**
 * Returns the model of the endpoint that transcribes one whole utterance per request. @param baseUrl - Undefined for
 * OpenAI's own.
 */
export function transcriptionModel(baseUrl: string | undefined): string {
  return isOpenAi(baseUrl) ? OPENAI_TRANSCRIPTION_MODEL : COMPATIBLE_TRANSCRIPTION_MODEL;
}

/** Returns the endpoint's model for synthesis. @param baseUrl - Undefined for OpenAI's own. */
export function speechModel(baseUrl: string | undefined): string {
  return isOpenAi(baseUrl) ? OPENAI_SPEECH_MODEL : COMPATIBLE_SPEECH_MODEL;
}
