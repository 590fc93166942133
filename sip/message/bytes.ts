/**
 * Text off the wire in which each character stands for one byte (0..255). SIP is UTF-8, but a server that decoded
 * it would alter what it cannot decode and would have to count bytes again; here `length` is the length on the
 * wire, and what came in goes out unchanged.
 */
export type ByteString = string;

/** @returns A new string that shares nothing with `bytes`. */
export function byteString(bytes: Buffer): ByteString {
  return bytes.toString('latin1');
}

/** @throws Never; a character above 255 (not a byte string) would lose its high bits. */
export function bytesOf(text: ByteString): Buffer {
  return Buffer.from(text, 'latin1');
}

/** The UTF-8 bytes of a text made for people, as a byte string. */
export function encodeText(text: string): ByteString {
  return byteString(Buffer.from(text, 'utf8'));
}

/** The text that a byte string holds as UTF-8; bytes that are not UTF-8 become U+FFFD. */
export function decodeText(text: ByteString): string {
  return bytesOf(text).toString('utf8');
}
