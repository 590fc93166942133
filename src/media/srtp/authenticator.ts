import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

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
    const digest = this.#digest(message, trailer);
    for (let i = 0; i < this.tagBytes; i++) out[offset + i] = digest[i] ?? 0;
  }

  /** In constant time. */
  verify(message: Uint8Array, trailer: Uint8Array, tag: Uint8Array): boolean {
    const digest = this.#digest(message, trailer);
    let difference = tag.length ^ this.tagBytes;
    for (let i = 0; i < this.tagBytes; i++) difference |= (digest[i] ?? 0) ^ (tag[i] ?? 0);
    return difference === 0;
  }

  #digest(message: Uint8Array, trailer: Uint8Array): Uint8Array {
    return createHmac('sha1', this.#key).update(message).update(trailer).digest();
  }
}
