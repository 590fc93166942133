import { CallwayError, invalid } from '../../../base/errors.ts';
import type { Trunk } from '../../../calls/trunks/trunk.ts';
import type { Dialog } from '../dialog.ts';
import type { LegAudio } from '../legAudio.ts';

/** A DTMF digit received by SIP INFO. */
export interface InfoDigit {
  readonly digit: string;
  readonly durationMs: number;
}

const DIGITS = /^[0-9*#A-D]{1,128}$/;
const MAX_WAITING = 256;
const DEFAULT_DURATION_MS = 160;
const MAX_DURATION_MS = 10_000;
/** Some peers send the names of * and #, or their event codes. @see RFC 4733 section 3.2 */
const DIGIT_OF_SIGNAL: Readonly<Record<string, string>> = {
  10: '*',
  11: '#',
  12: 'A',
  13: 'B',
  14: 'C',
  15: 'D',
  STAR: '*',
  POUND: '#',
  HASH: '#',
};

/** The types of bodies with a digit. There is no standard for them: each is read in every peer's spelling. */
const DIGIT_TYPES = [
  'application/dtmf-relay',
  'application/dtmf',
  'audio/telephone-event',
  'application/vnd.nortelnetworks.digits',
] as const;

/** The value of Accept in a response that refuses other bodies. */
export const ACCEPTED_INFO = DIGIT_TYPES.join(', ');

const SIGNAL = /(?:^|[\s;,])(?:signal|d)\s*[=:]\s*"?(\d{1,2}|[*#a-d]|star|pound|hash)(?=$|[\s;,"])/i;
const ALONE = /^\s*(\d{1,2}|[*#a-d]|star|pound|hash)\s*$/i;
const DURATION = /(?:^|[\s;,])duration\s*[=:]\s*"?(\d{1,6})(?=$|[\s;,"])/i;

/**
 * Reads a digit: `Signal=5` or `d=5` among other lines, or the digit alone.
 *
 * @param contentType - The body's type; undefined when the peer names none.
 * @returns Undefined for any other body.
 */
export function readInfoDigit(contentType: string | undefined, body: string): InfoDigit | undefined {
  const [type = ''] = contentType?.toLowerCase().split(';') ?? [];
  const isRead = contentType === undefined || DIGIT_TYPES.some((known) => known === type.trim());
  const signal = isRead ? (SIGNAL.exec(body) ?? ALONE.exec(body))?.[1] : undefined;
  if (signal === undefined) return undefined;
  const duration = Number(DURATION.exec(body)?.[1] ?? DEFAULT_DURATION_MS);
  return digitOf(signal, Math.min(duration, MAX_DURATION_MS));
}

interface DigitSenderDeps {
  readonly trunk: Trunk;
  readonly audio: LegAudio;
  readonly dialog: Dialog;
}

/** Sends digits as RFC 4733 events, or by SIP INFO where the trunk is configured so or the peer supports no events. */
export class DigitSender {
  readonly #deps: DigitSenderDeps;
  /** The number of digits that wait for INFO, including those that are being sent. */
  #waiting = 0;
  #sent: Promise<void> = Promise.resolve();

  constructor(deps: DigitSenderDeps) {
    this.#deps = deps;
  }

  /**
   * @returns A promise that resolves once the digits were sent, after those of earlier calls.
   * @throws {CallwayError} 400 `dtmf_invalid`; `dtmf_too_many_digits` when 256 would wait; `dtmf_refused` with the peer's status.
   */
  async send(digits: string): Promise<void> {
    const { trunk, audio } = this.#deps;
    if (!DIGITS.test(digits)) throw invalid('dtmf_invalid', 'digits must be 1 to 128 of 0-9, *, # and A-D');
    const takesEvents = audio.parameters?.dtmf !== undefined;
    if (trunk.dtmf === 'rfc4733' && takesEvents && audio.media) return await audio.media.sendDtmf(digits);
    if (this.#waiting + digits.length > MAX_WAITING)
      throw invalid('dtmf_too_many_digits', `no more than ${MAX_WAITING} digits can wait at once`);
    this.#waiting += digits.length;
    const sent = this.#sent.then(() => this.#sendByInfo(digits));
    this.#sent = sent
      .catch(() => undefined)
      .then(() => {
        this.#waiting -= digits.length;
      });
    await sent;
  }

  async #sendByInfo(digits: string): Promise<void> {
    const headers = { 'Content-Type': 'application/dtmf-relay' };
    for (const digit of digits) {
      const body = `Signal=${digit}\r\nDuration=${DEFAULT_DURATION_MS}\r\n`;
      const { status, reason } = (await this.#deps.dialog.request('INFO', { headers, body })).message;
      if (status < 300) continue;
      throw new CallwayError('unavailable', 'dtmf_refused', `The peer takes no digits: ${status} ${reason}`);
    }
  }
}

function digitOf(signal: string, durationMs: number): InfoDigit | undefined {
  const digit = DIGIT_OF_SIGNAL[signal.toUpperCase()] ?? signal.toUpperCase();
  return /^[0-9*#A-D]$/.test(digit) ? { digit, durationMs } : undefined;
}
