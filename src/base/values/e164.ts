import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';

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
 * @returns The number in E.164; undefined for other text, and for a length that its country's numbers never have.
 */
export function normalizeNumber(text: string): string | undefined {
  if (TAIWAN_LOCAL.test(text)) return possible(HOME_CALLING_CODE + text.slice(1));
  return E164.test(text) ? possible(text) : undefined;
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

/**
 * Reads a number in any notation, also as it is dialed in a country.
 *
 * @returns The normalized number; undefined for one that the country's plan does not have, and for one with an extension.
 */
export function readNumber(text: string, country?: CountryCode): string | undefined {
  const number = parsePhoneNumberFromString(text, { defaultCountry: country, extract: false });
  return number?.isValid() && !number.ext ? normalizeNumber(number.number) : undefined;
}

/** @param number - Normalized. */
export function countryOf(number: string): CountryCode | undefined {
  return parsePhoneNumberFromString(number)?.country;
}

/** A trunk prefix within E.164 (`+8860912…`) is rejected: it would be a second spelling of the number. */
function possible(e164: string): string | undefined {
  const parsed = parsePhoneNumberFromString(e164);
  return parsed?.isPossible() && parsed.number === e164 ? e164 : undefined;
}
