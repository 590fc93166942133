import type { TrunkInput } from '../calls/trunk.ts';

type NumberFormat = TrunkInput['numberFormat'];

const TAIWAN = '+886';
const E164 = /^\+[1-9]\d{6,14}$/;
/** A number of Taiwan as it is dialled there. */
const TAIWAN_LOCAL = /^0[2-9]\d{7,8}$/;

/**
 * How a number is written to a trunk. What is no E.164 number (an extension, a name) goes as it is; a foreign number has
 * no national form here and goes as E.164.
 *
 * @param number - In the product's normal form.
 */
export function dialString(number: string, format: NumberFormat): string {
  if (!E164.test(number) || format === 'as_given' || format === 'e164') return number;
  if (format === 'e164_without_plus') return number.slice(1);
  return number.startsWith(TAIWAN) ? `0${number.slice(TAIWAN.length)}` : number;
}

/** The product's normal form of a number as a trunk wrote it; anything else as it is. */
export function readDialString(text: string, format: NumberFormat): string {
  const compact = text.replace(/[\s().-]/g, '');
  if (E164.test(compact)) return compact;
  if (TAIWAN_LOCAL.test(compact)) return `${TAIWAN}${compact.slice(1)}`;
  if (/^00[1-9]\d{6,14}$/.test(compact)) return `+${compact.slice(2)}`;
  const isBare = format === 'e164_without_plus' || /^886[2-9]\d{7,8}$/.test(compact);
  return isBare && E164.test(`+${compact}`) ? `+${compact}` : text;
}
