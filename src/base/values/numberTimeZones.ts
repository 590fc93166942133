import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/**
 * Has the time zones under the name of newer versions of Node, or of earlier ones. @see
 * https://tc39.es/proposal-intl-locale-info
 */
interface TimeZones {
  getTimeZones?(): readonly string[];
  readonly timeZones?: readonly string[];
}

/**
 * The time zones of a number's country.
 *
 * @param number - The number in E.164.
 * @returns IANA names; none for a number of no country, such as a satellite phone's.
 */
export function timeZonesOfNumber(number: string): readonly string[] {
  const country = parsePhoneNumberFromString(number)?.country;
  if (country === undefined) return [];
  const locale = new Intl.Locale('und', { region: country }) as Intl.Locale & TimeZones;
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}
