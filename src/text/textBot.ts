import type { BotTarget } from '../conversation/streams/audioStream.ts';
import type { BotClip, TextClient, TextPart } from '../dialects/textDialect.ts';

/** An open connection to a bot. */
export interface TextBot extends Omit<TextClient, 'read'> {
  /** Closes in order. Idempotent. */
  close(): void;
}

/** What a bot asks for. None throws. */
export interface TextBotListener {
  say(part: TextPart): void;
  play(clip: BotClip): void;
  sendDigits(digits: string): void;
  useLanguage(tags: { readonly spoken: string | undefined; readonly understood: string | undefined }): void;
  end(handoff: string | undefined): void;
  /** The connection is gone. @param isOrderly - The bot has closed it. */
  closed(isOrderly: boolean): void;
}

/**
 * Connects a call to a customer's bot; implemented by `streams/`.
 *
 * @throws {CallwayError} `engine_unavailable` when the bot refuses or does not answer in time.
 * @throws The signal's reason.
 */
export type ConnectTextBot = (
  target: BotTarget,
  callId: string,
  listener: TextBotListener,
  signal: AbortSignal,
) => Promise<TextBot>;

/** Fetches a recording that a bot wants played. @returns Samples at `MUSIC_RATE_HZ`. @throws When it cannot be played. */
export type FetchClip = (url: string, signal: AbortSignal) => Promise<Int16Array>;
