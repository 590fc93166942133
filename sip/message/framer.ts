import { type ByteString, byteString } from './bytes.ts';
import { SipParseError } from './errors.ts';
import type { SipMessage } from './message.ts';
import { contentLength, defaultLimits, type ParseLimits, parseHead } from './parse.ts';

/** A message of a stream, or a keep-alive. */
export type Framed =
  | {
      readonly kind: 'message';
      readonly message: SipMessage;
      readonly lengthBytes: number;
      readonly text: ByteString;
    }
  | { readonly kind: 'ping' }
  | { readonly kind: 'pong' };

/** The blank line may be split between two segments. */
const OVERLAP_BYTES = 3;

/**
 * Splits a byte stream (TCP, TLS) into messages by Content-Length.
 *
 * Between messages a double CRLF is a ping and a single one a pong (RFC 5626 section 3.5.1). The framer buffers at most
 * `maxMessageBytes` and one segment.
 *
 * @throws {SipParseError} `feed` throws it; the stream is then unusable and must be closed.
 */
export class StreamFramer {
  readonly #limits: ParseLimits;
  #pending: ByteString = '';
  #searchedTo = 0;
  /** The parsed head of an incomplete message. */
  #head: { message: SipMessage; bodyAt: number; length: number } | undefined;

  constructor(limits: ParseLimits = defaultLimits) {
    this.#limits = limits;
  }

  /** True when a message is incomplete. */
  get isMidMessage(): boolean {
    return this.#pending !== '';
  }

  /** The bytes of the incomplete message; after `feed` has thrown, those of the malformed one. */
  get unread(): ByteString {
    return this.#pending;
  }

  feed(bytes: Buffer): Framed[] {
    this.#pending += byteString(bytes);
    const framed: Framed[] = [];
    for (let next = this.#next(); next; next = this.#next()) framed.push(next);
    return framed;
  }

  #next(): Framed | undefined {
    const keepAlive = this.#head ? undefined : this.#takeKeepAlive();
    if (keepAlive) return keepAlive;
    const head = this.#head ?? this.#readHead();
    if (!head || this.#pending.length < head.length) return undefined;
    const text = this.#pending.slice(0, head.length);
    head.message.body = text.slice(head.bodyAt);
    this.#drop(head.length);
    return { kind: 'message', message: head.message, lengthBytes: head.length, text };
  }

  #takeKeepAlive(): Framed | undefined {
    if (this.#pending.startsWith('\r\n\r\n')) {
      this.#drop(4);
      return { kind: 'ping' };
    }
    if (this.#pending.startsWith('\r\n') && this.#pending.length > 2 && this.#pending[2] !== '\r') {
      this.#drop(2);
      return { kind: 'pong' };
    }
    if (this.#pending === '\r\n') return this.#loneCrlf();
    return undefined;
  }

  /** A pong or the first half of a ping, which is handled as a pong rather than waited for. */
  #loneCrlf(): Framed {
    this.#drop(2);
    return { kind: 'pong' };
  }

  #readHead(): { message: SipMessage; bodyAt: number; length: number } | undefined {
    const end = this.#pending.indexOf('\r\n\r\n', Math.max(0, this.#searchedTo - OVERLAP_BYTES));
    if (end < 0) {
      this.#searchedTo = this.#pending.length;
      this.#refuseAbove(this.#pending.length);
      return undefined;
    }
    const message = parseHead(this.#pending.slice(0, end), this.#limits);
    const body = contentLength(message.headers);
    if (body === undefined) throw new SipParseError('content_length', 'a stream needs Content-Length');
    const length = end + 4 + body;
    this.#refuseAbove(length);
    this.#head = { message, bodyAt: end + 4, length };
    return this.#head;
  }

  #refuseAbove(length: number): void {
    if (length <= this.#limits.maxMessageBytes) return;
    throw new SipParseError('too_large', `the message is above ${this.#limits.maxMessageBytes} bytes`, 513);
  }

  #drop(length: number): void {
    this.#pending = this.#pending.slice(length);
    this.#searchedTo = 0;
    this.#head = undefined;
  }
}
