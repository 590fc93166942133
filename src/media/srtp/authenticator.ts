import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/**
 * HMAC-SHA1, truncated to the tag's length.
 *
 * @see RFC 3711 section 4.2
 */
export class Authenticator {
  readonly tagBytes: number;
  readonly #key: KeyObject;

  constructor(key: Uint8Array, tagBytes: number) {
    this.#key = createSecretKey(key);
    this.tagBytes = tagBytes;
  }

  /** @param trailer - Authenticated after the message and not sent: SRTP's rollover counter. */
  writeTag(message: Uint8Array, trailer: Uint8Array, out: Uint8Array, offset: number): void {
    out.set(this.#tagOf(message, trailer), offset);
  }

  /** Compares the tag in constant time. */
  verify(message: Uint8Array, trailer: Uint8Array, tag: Uint8Array): boolean {
    return tag.length === this.tagBytes && timingSafeEqual(this.#tagOf(message, trailer), tag);
  }

  #tagOf(message: Uint8Array, trailer: Uint8Array): Uint8Array {
    const digest = createHmac('sha1', this.#key).update(message).update(trailer).digest();
    return digest.subarray(0, this.tagBytes);
  }
}
