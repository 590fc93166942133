/**
 * Text with one character per byte (0..255). SIP is UTF-8, but decoding would alter invalid bytes and require recounting:
 * here `length` is the length on the wire, and messages are forwarded unchanged.
 * @see decodeText
 */
export type ByteString = string;

/** The bytes as a byte string. */
export function byteString(bytes: Buffer): ByteString {
  return bytes.toString('latin1');
}

/** The bytes of a byte string. Characters above 255 lose their high bits. */
export function bytesOf(text: ByteString): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export function decodeText(text: ByteString): string {
  return bytesOf(text).toString('utf8');
}
