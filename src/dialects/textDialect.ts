import type { DialectConnection, DialectFacts, StreamMessage } from './dialect.ts';

/**
 * A wire protocol of text turns: the gateway recognizes the caller and speaks. It has two ends, as an audio dialect:
 * `openTextServer` where a carrier connects to our agent, `openTextClient` where a call of ours, with our recognition and
 * voices, connects to a user's bot.
 */
export interface TextDialect extends DialectFacts {
  /** The name of the gateway's recognition and voice in the history. */
  readonly provider: string;
  openTextServer(connection: DialectConnection): TextServer;
  /** Opening it sends what comes before the first words. */
  openTextClient(connection: DialectConnection, call: TextClientCall): TextClient;
}

/** Our agent's end of a carrier's stream. */
export interface TextServer {
  /** @returns Reads the start of a stream, as {@link DialectServer.readStart} does. */
  readStart(message: StreamMessage): TextStart | string | undefined;
  read(message: StreamMessage, gateway: TextGatewayHandler): void;
  say(part: TextPart): void;
  useLanguage(tag: string): void;
  sendDigits(digits: string): void;
  end(handoff: Readonly<Record<string, unknown>>): void;
}

export interface TextPart {
  readonly text: string;
  /** The answer is complete. */
  readonly isLast: boolean;
  /** BCP 47; undefined for the gateway's current one. */
  readonly language: string | undefined;
  /** Whether the caller may interrupt it. */
  readonly interruptible: boolean;
}

export interface TextStart {
  readonly customParameters: Readonly<Record<string, string>>;
}

/** Messages of the gateway, read. None throws. */
export interface TextGatewayHandler {
  words(text: string, language: string | undefined, isFinal: boolean): void;
  dtmf(digit: string): void;
  interrupted(heard: string, heardMs: number | undefined): void;
  played(text: string): void;
  silent(): void;
  fault(message: string): void;
  /** Counts a message that cannot be read. */
  malformed(): void;
}

/** The call that a bot is connected to. */
export interface TextClientCall {
  readonly streamId: string;
  readonly callId: string;
  readonly customParameters: Readonly<Record<string, string>>;
}

/** Our gateway's end of a stream to a bot. */
export interface TextClient {
  words(text: string, language: string | undefined): void;
  dtmf(digit: string): void;
  interrupted(heard: string, heardMs: number): void;
  read(message: StreamMessage, bot: TextBotHandler): void;
}

/** Messages of the bot, read. None throws. */
export interface TextBotHandler {
  say(part: TextPart): void;
  play(clip: BotClip): void;
  sendDigits(digits: string): void;
  useLanguage(tags: { readonly spoken: string | undefined; readonly understood: string | undefined }): void;
  end(handoff: string | undefined): void;
  /** Counts a message that cannot be read. @param reason - Told to the bot where the dialect can. */
  malformed(): void;
}

/** A recording that the bot wants played. */
export interface BotClip {
  readonly url: string;
  readonly times: number;
  readonly interruptible: boolean;
}
