import { DAY_MS } from '../../base/values/clock.ts';
import type { ChatEndpoint } from './providerNames.ts';

/** Chat models by what they are for: the strong one, the usual one, the fast one. */
export type ChatTiers = Readonly<Record<'smart' | 'balance' | 'turbo', string>>;

/** The chat models for agents and settings that name none. `local` has one model, whatever name is given. */
export const DEFAULT_CHAT_MODELS: Readonly<Record<Exclude<ChatEndpoint, 'local'>, ChatTiers>> = {
  openai: { smart: 'gpt-6.2-sol', balance: 'gpt-6.1-terra', turbo: 'gpt-6-luna' },
  anthropic: { smart: 'claude-opus-5-5', balance: 'claude-sonnet-5-5', turbo: 'claude-haiku-5-5' },
  google: { smart: 'gemini-4-argon', balance: 'gemini-3.8-flash', turbo: 'gemini-3.5-flash-lite' },
};

/** The start, and a model's first use, warn this long before its end. */
const END_NOTICE_DAYS = 90;
const DATED = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * The day from which a vendor no longer serves a model, by the announcements in its SDK and on its deprecations page. A
 * model's dated versions end with it.
 *
 * @see https://developers.openai.com/api/docs/deprecations
 * @see https://platform.claude.com/docs/en/about-claude/model-deprecations
 * @see https://ai.google.dev/gemini-api/docs/deprecations
 * @see https://docs.cartesia.ai/build-with-cartesia/tts-models/api-changes
 */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  // OpenAI: chat
  '2024-09-13': ['gpt-3.5-turbo-0301', 'gpt-3.5-turbo-0613', 'gpt-3.5-turbo-16k', 'gpt-3.5-turbo-16k-0613'],
  '2024-12-06': ['gpt-4-vision-preview'],
  '2025-06-06': ['gpt-4-32k', 'gpt-4-32k-0314', 'gpt-4-32k-0613'],
  '2025-07-28': ['o1-preview'],
  '2025-10-27': ['o1-mini'],
  '2026-02-17': ['chatgpt-4o-latest'],
  '2026-03-26': ['gpt-4-0125-preview', 'gpt-4-turbo-preview', 'gpt-4-0314'],
  '2026-07-23': [
    ...['gpt-5.1-codex', 'gpt-5.1-chat-latest', 'gpt-5-chat-latest', 'gpt-5-codex', 'gpt-5.1-codex-max'],
    ...['gpt-4o-search-preview', 'gpt-4o-mini-search-preview'],
  ],
  '2026-08-10': ['gpt-5.3-chat-latest', 'gpt-5.2-chat-latest'],
  '2026-09-28': ['gpt-3.5-turbo-1106'],
  '2026-10-23': [
    ...['gpt-4.1-nano', 'o4-mini', 'o3-mini', 'o1', 'o1-pro', 'gpt-4o-2024-05-13', 'gpt-4-turbo'],
    ...['gpt-4-1106-preview', 'gpt-4', 'gpt-4-0613', 'gpt-3.5-turbo', 'gpt-3.5-turbo-0125'],
  ],
  '2026-12-11': ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5-pro', 'o3', 'o3-pro'],
  '2027-01-14': ['gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini'],
  '2027-04-01': ['gpt-5.4-nano', 'gpt-5.1'],
  // OpenAI: speech
  '2026-05-07': [
    ...['gpt-4o-realtime-preview', 'gpt-4o-mini-realtime-preview'],
    ...['gpt-4o-audio-preview', 'gpt-4o-mini-audio-preview'],
  ],
  '2027-01-06': ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'],
  '2027-01-20': ['gpt-realtime', 'gpt-realtime-mini', 'gpt-audio-mini'],
  '2027-02-26': ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe-diarize'],
  // Anthropic
  '2026-06-30': ['claude-mythos-preview'],
  '2026-11-30': ['claude-sonnet-4-5'],
  '2027-01-22': ['claude-opus-4-5'],
  // Google
  '2025-12-09': ['gemini-2.0-flash-live-001', 'gemini-live-2.5-flash-preview'],
  '2026-03-09': ['gemini-3-pro-preview'],
  '2026-06-01': [
    ...['gemini-2.0-flash', 'gemini-2.0-flash-001', 'gemini-2.0-flash-lite', 'gemini-2.0-flash-lite-001'],
    // Cartesia ends its first models on the same day.
    ...['sonic', 'sonic-english', 'sonic-multilingual', 'sonic-2-2025-03-07', 'sonic-turbo-2025-03-07'],
  ],
  '2026-12-01': ['gemini-2.5-flash', 'gemini-2.5-pro'],
  '2027-05-07': ['gemini-3.1-flash-lite'],
};

const END_OF = new Map(
  Object.entries(ENDS).flatMap(([day, models]) => models.map((model): [string, string] => [model, day])),
);

export interface ModelEnd {
  /** The date, `YYYY-MM-DD`. */
  readonly day: string;
  /** True when the vendor no longer serves the model. */
  readonly hasEnded: boolean;
}

/**
 * @param model - The name in the settings or the agent. It may have a path, as at Google and gateways
 *   (`openai/gpt-4.1`).
 * @returns The model's end when it is at most {@link END_NOTICE_DAYS} away, else undefined.
 */
export function nearEndOf(model: string, nowMs: number): ModelEnd | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const day = END_OF.get(name) ?? END_OF.get(name.replace(DATED, ''));
  if (day === undefined) return undefined;
  const leftMs = Date.parse(day) - nowMs;
  return leftMs > END_NOTICE_DAYS * DAY_MS ? undefined : { day, hasEnded: leftMs <= 0 };
}
