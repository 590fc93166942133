import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

import { normalizeNumber, readNumber } from '../base/values/e164.ts';

/** @see RFC 3966 section 3 */
const TEL_SCHEME = /^tel:/i;
const INTERNATIONAL_PREFIX = /^00[\s.\-/]*(?=[1-9])/;
const SEPARATORS = /[\s().\-/]/g;
/** Invisible marks, which address books of phones put around a number. */
const INVISIBLE = /\p{Cf}/gu;
/** What spreadsheets write so that a number is taken for a text: `'0912…`, `="0912…"`. */
const AS_TEXT = /^(?:'|="(?=.*"$))|(?<=^=".*)"$/g;
/** A number's cell may be shown with decimals, or with separators of thousands: `12125550123.00`, `2,125,550,123`. */
const DECIMALS = /^(\+?\d{7,15})[.,]0{1,2}$/;
const THOUSANDS = /^\d{1,3}(?:,\d{3}){2,}$/;

/**
 * Returns a reader of numbers as lists have them: in E.164 with any separators, with `00` or a country's own prefix for
 * international calls, as dialed within the country, or with its calling code but without the plus sign, which spreadsheets
 * lose, and in the other forms that exports give it. It reads no number that a phone cannot reach, such as one with an extension,
 * and none that means another person with `00` than with the country's own prefix: in Korea, `00819012345678` may be
 * +81 90 1234 5678, or +1 901 234 5678 by the prefix `008`.
 *
 * @param fromNumber - The number that calls, in E.164, whose country national numbers belong to; undefined reads none.
 */
export function listNumberReader(fromNumber: string | undefined): (text: string) => string | undefined {
  const home = fromNumber === undefined ? undefined : parsePhoneNumberFromString(fromNumber);
  return (text) => {
    const given = exported(text).replace(TEL_SCHEME, '');
    const withPlus = given.replace(INTERNATIONAL_PREFIX, '+');
    const strict =
      home && !given.startsWith('+') ? undefined : normalizeNumber(withPlus.replace(SEPARATORS, ''));
    if (strict !== undefined || !home) return strict;
    const digits = given.replace(SEPARATORS, '');
    const isWithCode = /^\d+$/.test(digits) && digits.startsWith(home.countryCallingCode);
    const withCode = isWithCode ? readNumber(`+${digits}`) : undefined;
    if (withCode !== undefined) return withCode;
    const asDialed = readNumber(given, home.country);
    const withZeros = withPlus === given ? asDialed : readNumber(withPlus);
    if (asDialed && withZeros && asDialed !== withZeros) return undefined;
    return asDialed ?? withZeros;
  };
}

/** Undoes what spreadsheets and address books do to a number. */
function exported(text: string): string {
  const shown = text.replace(INVISIBLE, '').trim().replace(AS_TEXT, '');
  return THOUSANDS.test(shown) ? shown.replaceAll(',', '') : shown.replace(DECIMALS, '$1');
}
