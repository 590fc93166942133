import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';

import { toMapping, toWindows } from '../../src/cli/campaignOptions.ts';

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'];

test.each([
  ['mon-fri 09:00-18:00', { days: WEEKDAYS, from: '09:00', to: '18:00' }],
  ['Sat, Sun 9:30 - 24:00', { days: ['sat', 'sun'], from: '09:30', to: '24:00' }],
  ['fri-mon 10:00-12:00', { days: ['fri', 'sat', 'sun', 'mon'], from: '10:00', to: '12:00' }],
  [' wed 10:00-12:00 ', { days: ['wed'], from: '10:00', to: '12:00' }],
  ['mon-sun 00:00-24:00', { days: [...WEEKDAYS, 'sat', 'sun'], from: '00:00', to: '24:00' }],
])('The window %s is read', (text, window) => {
  const other = { days: ['sun' as const], from: '10:00', to: '11:00' };
  expect(toWindows(text, [other])).toEqual([other, window]);
});

test.each([
  ['09:00-18:00', 'like "mon-fri 09:00-18:00"'],
  ['mon-fri', 'like "mon-fri 09:00-18:00"'],
  ['mon-fri 9am-6pm', 'like "mon-fri 09:00-18:00"'],
  ['montag 09:00-18:00', '"montag" is not a day'],
  ['mon-tue-wed 09:00-18:00', '"mon-tue-wed" is not a day'],
  ['mon, 09:00-18:00', '"" is not a day'],
  ['mon 22:00-02:00', 'hours over midnight are two windows'],
  ['mon 09:60-18:00', 'must be a time of day'],
  ['mon 09:00-24:30', 'must be a time of day'],
])('The window %s is refused', (text, message) => {
  expect(() => toWindows(text)).toThrow(InvalidArgumentError);
  expect(() => toWindows(text)).toThrow(message);
});

test('Columns are mapped by field, with any sign in their names', () => {
  const mapping = toMapping('timezone=Zone=UTC', toMapping('toNumber=電話 (mobile)'));
  expect(mapping).toEqual({ toNumber: '電話 (mobile)', timezone: 'Zone=UTC' });
});

test.each([
  ['Phone', 'It must be field=column, with a field of toNumber, timezone'],
  ['phone=Phone', 'It must be field=column'],
  ['timezone= ', 'It must be field=column'],
  ['toNumber=Mobile', 'toNumber has a column already'],
])('The column %s is refused', (text, message) => {
  expect(() => toMapping(text, { toNumber: 'Phone' })).toThrow(message);
});
