import { CallwayError, invalid } from '../../../base/errors.ts';
import type { Trunk } from '../../../calls/trunks/trunk.ts';
import type { Dialog } from '../dialog.ts';
import type { LegAudio } from '../legAudio.ts';
import { writeInfoDigit } from './infoDigits.ts';

const DIGITS = /^[0-9*#A-D]{1,128}$/;

/** @throws {CallwayError} 400 `dtmf_invalid` */
export function requireDigits(digits: string): void {
  if (!DIGITS.test(digits)) throw invalid('dtmf_invalid', 'digits must be 1 to 128 of 0-9, *, # and A-D');
}

/**
 * Sends digits by the trunk's way: as events in the audio, or one by one by INFO; by INFO too where the peer takes no
 * events.
 *
 * @throws {CallwayError} `dtmf_refused` with the peer's status.
 */
export async function sendDigits(
  digits: string,
  trunk: Pick<Trunk, 'dtmf'>,
  audio: LegAudio,
  dialog: Dialog,
): Promise<void> {
  const takesEvents = audio.parameters?.dtmfPayloadType !== undefined;
  if (trunk.dtmf === 'rfc4733' && takesEvents && audio.media) return await audio.media.sendDtmf(digits);
  for (const digit of digits) {
    const { contentType, body } = writeInfoDigit(digit);
    const response = await dialog.request('INFO', { headers: { 'Content-Type': contentType }, body });
    if (response.status < 300) continue;
    const { status, reason } = response;
    throw new CallwayError('unavailable', 'dtmf_refused', `The peer takes no digits: ${status} ${reason}`);
  }
}
