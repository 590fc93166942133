import { type ByteString, byteString } from '../../message/bytes.ts';

/** The peer does not use the control protocol; its connection is closed. */
export class ControlProtocolError extends Error {
  readonly code = 'control_protocol';

  constructor(message: string) {
    super(message);
    this.name = 'ControlProtocolError';
  }
}

/** The longest length field. */
const MAX_LENGTH_DIGITS = 5;

/**
 * Splits the bytes of a control connection into frames: decimal length, `#`, that many bytes. Buffers at most one
 * unfinished frame.
 */
export class FrameReader {
  #incoming: ByteString = '';

  /** @throws {ControlProtocolError} When the bytes are not a frame; the connection is unusable then. */
  feed(bytes: Buffer): ByteString[] {
    this.#incoming += byteString(bytes);
    const frames: ByteString[] = [];
    let at = 0;
    for (;;) {
      const mark = this.#incoming.indexOf('#', at);
      const digits = this.#incoming.slice(at, mark < 0 ? undefined : mark);
      if (digits.length > MAX_LENGTH_DIGITS || !/^\d*$/.test(digits) || (mark >= 0 && digits === '')) {
        throw new ControlProtocolError('a frame has no length');
      }
      const end = mark + 1 + Number(digits);
      if (mark < 0 || end > this.#incoming.length) break;
      frames.push(this.#incoming.slice(mark + 1, end));
      at = end;
    }
    this.#incoming = this.#incoming.slice(at);
    return frames;
  }
}

/** A frame as on the wire. */
export function formatFrame(payload: ByteString): ByteString {
  return `${payload.length}#${payload}`;
}

/** The fields of the meta line, and the SIP message after it. */
export function splitFrame(payload: ByteString): { fields: string[]; sip: ByteString } {
  const end = payload.indexOf('\r\n');
  if (end < 0) return { fields: payload.split('|'), sip: '' };
  return { fields: payload.slice(0, end).split('|'), sip: payload.slice(end + 2) };
}
