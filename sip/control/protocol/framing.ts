import { type ByteString, byteString, bytesOf } from '../../message/bytes.ts';

/** The peer does not speak the control protocol; its connection is closed. */
export class ControlProtocolError extends Error {
  readonly code = 'control_protocol';

  constructor(message: string) {
    super(message);
    this.name = 'ControlProtocolError';
  }
}

/** Five digits of length: no frame is larger. */
const MAX_LENGTH_DIGITS = 5;

/**
 * Cuts the control connection's bytes into frames: decimal length, `#`, that many bytes. Owns at most one
 * unfinished frame.
 */
export class FrameReader {
  #incoming: ByteString = '';

  /** @throws {ControlProtocolError} When what comes is no frame; nothing after it can be trusted. */
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

/** A frame as it stands on the connection. */
export function formatFrame(payload: ByteString): ByteString {
  return `${payload.length}#${payload}`;
}

export function encodeFrame(payload: ByteString): Buffer {
  return bytesOf(formatFrame(payload));
}

/** The meta line's fields, and the SIP message that follows it. */
export function splitFrame(payload: ByteString): { fields: string[]; sip: ByteString } {
  const end = payload.indexOf('\r\n');
  if (end < 0) return { fields: payload.split('|'), sip: '' };
  return { fields: payload.slice(0, end).split('|'), sip: payload.slice(end + 2) };
}
