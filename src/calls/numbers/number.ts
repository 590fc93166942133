import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

import { CallwayError } from '../../base/errors.ts';
import type { TrunkInput } from '../trunks/trunk.ts';

/** Taiwan numbers may be written as dialed within Taiwan. */
const HOME_CALLING_CODE = '+886';
/** @see ITU-T E.164 section 6: at most 15 digits; no country code starts with 0. */
const E164 = /^\+[1-9]\d{6,14}$/;
/** `0` and the area or mobile code, as in `0223456789` and `0912345678`. */
const TAIWAN_LOCAL = /^0[1-9]\d{7,9}$/;
/** @see RFC 3966 section 5.1.1 */
const VISUAL_SEPARATORS = /[\s().-]/g;

export const NUMBER_SYNTAX =
  'a number in E.164 such as +886912345678, or a Taiwan number in local form such as 0912345678';

/**
 * Normalizes a number to E.164 with its plus sign, the form in which numbers are stored, locked and compared.
 *
 * @param text - E.164, or a Taiwan number in local form, without separators.
 * @returns Undefined for anything else, and for a length that its country's numbers never have.
 */
export function normalizeNumber(text: string): string | undefined {
  if (TAIWAN_LOCAL.test(text)) return possible(HOME_CALLING_CODE + text.slice(1));
  return E164.test(text) ? possible(text) : undefined;
}

/**
 * As {@link normalizeNumber}, for user input.
 *
 * @param field - Its name in the body.
 * @throws {CallwayError} 400 `invalid_number`
 */
export function requireNumber(text: string, field: string): string {
  const number = normalizeNumber(text);
  if (number !== undefined) return number;
  const message = `${field} must be ${NUMBER_SYNTAX}`;
  throw new CallwayError('invalid', 'invalid_number', message, { details: [{ path: `/${field}`, message }] });
}

/**
 * Reads a number as carriers write it: with separators, with `00` or nothing in place of the plus sign.
 *
 * @returns The normalized number; undefined for what is no public number, such as an extension.
 */
export function parseCarrierNumber(text: string): string | undefined {
  const digits = text.replace(VISUAL_SEPARATORS, '');
  const strict = normalizeNumber(digits);
  if (strict !== undefined) return strict;
  if (/^00[1-9]/.test(digits)) return normalizeNumber(`+${digits.slice(2)}`);
  return /^[1-9]\d+$/.test(digits) ? normalizeNumber(`+${digits}`) : undefined;
}

export interface NumberFormatOptions {
  readonly format: TrunkInput['numberFormat'];
  /** The calling number, normalized: `national` writes numbers of its country without the country code. */
  readonly callingNumber: string;
  /** As the API request had it, for `as_given`; by default the normalized number. */
  readonly asGiven?: string | undefined;
}

/**
 * Formats a number for a SIP request.
 *
 * @param number - Normalized; anything else is returned as it is.
 */
export function formatNumber(
  number: string,
  { format, callingNumber, asGiven }: NumberFormatOptions,
): string {
  switch (format) {
    case 'as_given':
      return asGiven ?? number;
    case 'e164':
      return number;
    case 'e164_without_plus':
      return number.replace(/^\+/, '');
    case 'national':
      return formatNational(number, callingNumber);
  }
}

/** For logs: the first four and the last two characters, `+886*******78`. */
export function maskNumber(number: string): string {
  return number.replace(/(?<=^.{4,}).(?=.{2})/g, '*');
}

function formatNational(number: string, callingNumber: string): string {
  const parsed = parsePhoneNumberFromString(number);
  const home = parsePhoneNumberFromString(callingNumber);
  if (!parsed || parsed.countryCallingCode !== home?.countryCallingCode) return number;
  return parsed.formatNational().replace(/\D/g, '');
}

/** A trunk prefix within E.164 (`+8860912…`) is rejected: it would be a second spelling of the number. */
function possible(e164: string): string | undefined {
  const parsed = parsePhoneNumberFromString(e164);
  return parsed?.isPossible() && parsed.number === e164 ? e164 : undefined;
}
