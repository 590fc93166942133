/** A digit as SIP INFO carries it. */
export interface InfoDigit {
  readonly digit: string;
  readonly durationMs: number;
}

const DEFAULT_DURATION_MS = 160;
const MAX_DURATION_MS = 10_000;
/** Some write * and # as the numbers of their events. @see RFC 4733 section 3.2 */
const EVENT_NUMBERS: Readonly<Record<string, string>> = {
  10: '*',
  11: '#',
  12: 'A',
  13: 'B',
  14: 'C',
  15: 'D',
};

/** Reads `application/dtmf-relay` and `application/dtmf`. @returns Undefined for anything else. */
export function readInfoDigit(contentType: string, body: string): InfoDigit | undefined {
  const [type] = contentType.toLowerCase().split(';');
  if (type?.trim() === 'application/dtmf') return digitOf(body.trim(), DEFAULT_DURATION_MS);
  if (type?.trim() !== 'application/dtmf-relay') return undefined;
  const signal = /^\s*Signal\s*=\s*(\S+)\s*$/im.exec(body)?.[1] ?? '';
  const duration = Number(/^\s*Duration\s*=\s*(\d{1,6})\s*$/im.exec(body)?.[1] ?? DEFAULT_DURATION_MS);
  return digitOf(signal, Math.min(duration, MAX_DURATION_MS));
}

/** @param digit - One of `0-9*#A-D`. */
export function writeInfoDigit(digit: string): { readonly contentType: string; readonly body: string } {
  return {
    contentType: 'application/dtmf-relay',
    body: `Signal=${digit}\r\nDuration=${DEFAULT_DURATION_MS}\r\n`,
  };
}

function digitOf(signal: string, durationMs: number): InfoDigit | undefined {
  const digit = EVENT_NUMBERS[signal] ?? signal.toUpperCase();
  return /^[0-9*#A-D]$/.test(digit) ? { digit, durationMs } : undefined;
}
