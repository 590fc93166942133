import type { BotClip, TextClient, TextPart } from '../dialects/textDialect.ts';

/** A customer's bot, as a stream names it. */
export interface BotTarget {
  readonly url: string;
  /** The dialect of the text turns. */
  readonly dialect: string;
  readonly streamId: string;
  /**
   * The sealed headers of the request that opens the connection. Streams wait in a store for their connection, so these
   * are encrypted.
   */
  readonly sealedHeaders: string;
  readonly customParameters: Readonly<Record<string, string>>;
}

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
