import { expect, test } from 'vitest';

import { opennessOf, weekOf, windowsOf, withSpan } from '../../console/src/components/weekGrid/week.ts';
import {
  badVariableLine,
  retryFormOf,
  retryFrom,
  variablesFrom,
  variablesText,
} from '../../console/src/pages/campaigns/campaignValues.ts';
import { firstRowsOf, readFirstRows } from '../../console/src/pages/campaigns/imports/firstRows.ts';
import { archive } from '../support/documents.ts';

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

test('Variables of a campaign keep their types where their lines are as they were', () => {
  const before = { company: 'Acme', zip: '010', level: 3, tags: ['a'], text: 'two\nlines', quoted: '"x"' };
  const text = variablesText(before);
  expect(text.split('\n')).toHaveLength(6);
  expect(variablesFrom(text, before)).toEqual(before);
  const changed = text.replace('level = 3', 'level = 4').replace('company = Acme', ' site =a=b ');
  expect(variablesFrom(changed, before)).toEqual({ ...before, company: undefined, site: 'a=b', level: '4' });
  expect(['a = 1\n\nb', '= 1', 'a ='].map(badVariableLine)).toEqual(['b', '= 1', undefined]);
});

test('Retry rules of any form are those of each outcome, of which the first counts', () => {
  const rules = [
    { outcomes: ['busy', 'failed'] as const, afterMinutes: 5 },
    { outcomes: ['failed'] as const, afterMinutes: 60 },
  ];
  const form = retryFormOf({
    maxAttempts: 4,
    rules: rules.map((rule) => ({ ...rule, outcomes: [...rule.outcomes] })),
  });
  expect(retryFrom(form)).toEqual({
    maxAttempts: 4,
    rules: [
      { outcomes: ['busy'], afterMinutes: 5 },
      { outcomes: ['failed'], afterMinutes: 5 },
    ],
  });
});

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

/** A workbook with a hidden sheet, shared texts, and a sheet of these rows. */
function workbook(rows: string, shared: readonly string[] = []) {
  const sheets = '<x:sheet name="a" state="hidden" r:id="r1"/><x:sheet name="b" sheetId="2" r:id="r2"/>';
  return archive({
    'xl/workbook.xml': `<x:workbook><x:sheets>${sheets}</x:sheets></x:workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="r2" Target="/xl/worksheets/b.xml"/></Relationships>`,
    'xl/sharedStrings.xml': `<sst ${MAIN}>${shared.map((text) => `<si>${text}</si>`).join('')}</sst>`,
    'xl/worksheets/b.xml': `<worksheet ${MAIN}><sheetData>${rows}</sheetData></worksheet>`,
  });
}

test('The first rows of a sheet are read: texts of any kind, numbers, gaps, and rows without text left out', async () => {
  const rows = [
    '<row r="1"/><row r="2"><c r="A2" t="s"><v>1</v></c><c r="C2" t="inlineStr"><is><t>Name &amp; &#x4E00;</t></is></c></row>',
    '<row r="5"><c r="A5"><v>886912345678</v></c><c r="B5" t="str"><f>A1</f><v>x</v></c><c r="C5" t="s"><v>0</v></c></row>',
  ];
  const shared = [
    '<r><t>王</t></r><r><t xml:space="preserve"> A</t></r><rPh sb="0" eb="1"><t>wang</t></rPh>',
    '<t>Phone</t>',
  ];
  const file = new File([workbook(rows.join(''), shared)], 'list.XLSX');
  expect(await readFirstRows(file)).toEqual({
    headers: ['Phone', '', 'Name & 一'],
    rows: [['886912345678', 'x', '王 A']],
  });
});

test.each([
  ['no archive', new Uint8Array(100)],
  ['an archive without a workbook', archive({ a: 'b' })],
  ['a damaged one', workbook('<row><c><v>1</v></c></row>').fill(0, 40, 90)],
])('%s has no first rows', async (_what, bytes) => {
  expect(await readFirstRows(new File([bytes], 'list.xlsx'))).toBeUndefined();
});
