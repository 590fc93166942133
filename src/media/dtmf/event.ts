import { readUint8, readUint16, writeUint16 } from '../bytes.ts';

/** Digits by event code, 0 to 15. @see RFC 4733 table 3 */
const DIGITS = '0123456789*#ABCD';

/** The length of a telephone-event payload. */
const TELEPHONE_EVENT_BYTES = 4;
/** The longest duration of one event. */
export const MAX_EVENT_DURATION_TICKS = 0xffff;

/** A telephone-event payload. */
export interface TelephoneEvent {
  /** 0..255; DTMF is 0 to 15. */
  readonly code: number;
  readonly isEnd: boolean;
  /** Power below 0 dBm0, 0..63 dB. */
  readonly volumeDb: number;
  /** The time since the event's start, in ticks of the RTP clock. */
  readonly durationTicks: number;
}

/**
 * ```
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * |     event     |E|R| volume    |          duration             |
 * ```
 * @returns Undefined when the payload is too short; bytes after the event are ignored.
 * @see RFC 4733 section 2.3
 */
export function parseTelephoneEvent(payload: Uint8Array): TelephoneEvent | undefined {
  if (payload.length < TELEPHONE_EVENT_BYTES) return undefined;
  const flags = readUint8(payload, 1);
  return {
    code: readUint8(payload, 0),
    isEnd: (flags & 0x80) !== 0,
    volumeDb: flags & 0x3f,
    durationTicks: readUint16(payload, 2),
  };
}

/** @returns Bytes written. @throws {RangeError} When `out` is too small. @see RFC 4733 section 2.3 */
export function writeTelephoneEvent(event: TelephoneEvent, out: Uint8Array): number {
  if (out.length < TELEPHONE_EVENT_BYTES) throw new RangeError('a telephone event takes 4 bytes');
  out[0] = event.code;
  out[1] = (event.isEnd ? 0x80 : 0) | (event.volumeDb & 0x3f);
  writeUint16(out, 2, event.durationTicks);
  return TELEPHONE_EVENT_BYTES;
}

/** @returns `0`..`9`, `*`, `#`, `A`..`D`; undefined for other events, such as flash or a tone. */
export function digitOf(code: number): string | undefined {
  return DIGITS[code];
}

/** @returns The event code; undefined unless it is one digit, in either case. */
export function codeOf(digit: string): number | undefined {
  const code = digit.length === 1 ? DIGITS.indexOf(digit.toUpperCase()) : -1;
  return code < 0 ? undefined : code;
}
