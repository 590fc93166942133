import { expect, test } from 'vitest';

import { opennessOf, weekOf, windowsOf, withSpan } from '../../console/src/components/weekGrid/week.ts';
import { firstRowsOf } from '../../console/src/pages/campaigns/imports/firstRows.ts';

const NINE = [540, 600] as const;

test('An hour is opened and closed in a week, and minutes around it stay', () => {
  const week = weekOf([
    { days: ['mon', 'tue'], from: '08:30', to: '09:20' },
    { days: ['tue'], from: '23:00', to: '24:00' },
  ]);
  expect([0, 1, 2].map((place) => opennessOf(week, place, NINE))).toEqual(['part', 'part', 'closed']);
  expect(windowsOf(withSpan(week, 0, NINE, true))).toEqual([
    { days: ['mon'], from: '08:30', to: '10:00' },
    { days: ['tue'], from: '08:30', to: '09:20' },
    { days: ['tue'], from: '23:00', to: '24:00' },
  ]);
  expect(windowsOf(withSpan(week, 1, NINE, false))).toEqual([
    { days: ['mon'], from: '08:30', to: '09:20' },
    { days: ['tue'], from: '08:30', to: '09:00' },
    { days: ['tue'], from: '23:00', to: '24:00' },
  ]);
  const split = withSpan(weekOf([{ days: ['sun'], from: '08:00', to: '12:00' }]), 6, NINE, false);
  expect(windowsOf(split).map(({ from, to }) => `${from}-${to}`)).toEqual(['08:00-09:00', '10:00-12:00']);
});

test.each([
  ['a,b\r\n1,2\r\n', true, ['a', 'b'], [['1', '2']]],
  ['a;b\n"1;""x""\n";2\n\n', true, ['a', 'b'], [['1;"x"\n', '2']]],
  ['sep=|\na|b\n1|', true, ['a', 'b'], [['1']]],
  ['a\tb\n1\t2\n3\t', false, ['a', 'b'], [['1', '2']]],
  ['Phone', true, ['Phone'], []],
  ['a,b\n"never closed,2', true, ['a', 'b'], [['"never closed', '2']]],
])('The first rows of %j are read', (text, isWhole, headers, rows) => {
  expect(firstRowsOf(text, isWhole)).toEqual({ headers, rows });
});
