import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { CallwayError } from '../../base/errors.ts';
import { NUMBER_SYNTAX, normalizeNumber } from '../../base/values/e164.ts';
import type { TrunkInput } from '../trunks/trunk.ts';

/**
 * Normalizes a number that a user entered. @throws {CallwayError} When {@link normalizeNumber} rejects it.
 *
 * @param field - The number's field in the body.
 * @throws {CallwayError} 400 `invalid_number`
 */
export function requireNumber(text: string, field: string): string {
  const number = normalizeNumber(text);
  if (number !== undefined) return number;
  const message = `${field} must be ${NUMBER_SYNTAX}`;
  throw new CallwayError('invalid', 'invalid_number', message, { details: [{ path: `/${field}`, message }] });
}

export interface NumberFormatOptions {
  readonly format: TrunkInput['numberFormat'];
  /** The calling number, normalized: `national` writes numbers of its country without the country code. */
  readonly callingNumber: string;
  /** The number as the API request had it, for `as_given`. Default: the normalized number. */
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

/** Masks a number for logs: it leaves the first four and the last two characters, `+886*******78`. */
export function maskNumber(number: string): string {
  return number.replace(/(?<=^.{4,}).(?=.{2})/g, '*');
}

function formatNational(number: string, callingNumber: string): string {
  const parsed = parsePhoneNumberFromString(number);
  const home = parsePhoneNumberFromString(callingNumber);
  if (!parsed || parsed.countryCallingCode !== home?.countryCallingCode) return number;
  return parsed.formatNational().replace(/\D/g, '');
}
