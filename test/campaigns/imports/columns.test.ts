import { expect, test } from 'vitest';

import { variableName } from '../../../src/agents/fields.ts';
import { renderDeep } from '../../../src/agents/pathway/renderDeep.ts';
import { renderTemplate, templateWords } from '../../../src/agents/pathway/templates.ts';
import { missingColumns, readColumns } from '../../../src/campaigns/imports/columns.ts';

/** Reads a header that has the columns of the mapping. */
function columns(headers: readonly string[], mapping: Parameters<typeof readColumns>[1]) {
  const read = readColumns(headers, mapping);
  if (!read) throw new Error('no header');
  return read;
}

const HEADERS = [
  'Phone',
  'First Name',
  'orderId',
  'Größe',
  '姓名',
  '2nd',
  '',
  'call',
  'first_name',
  '電話（公司）',
  '☎',
];

test('Columns that are not mapped are variables, by headers in snake_case where needed', () => {
  const read = columns(HEADERS, { toNumber: 'phone' });
  expect(
    read(['0912 345 678', ' Ada ', 'A-1', 'XL', '王', 'x', 'dropped', 'c', 'again', '02', 'icon', 'beyond']),
  ).toEqual({
    contact: {
      toNumber: '0912 345 678',
      variables: {
        first_name: 'Ada',
        orderId: 'A-1',
        Größe: 'XL',
        姓名: '王',
        _2nd: 'x',
        call_2: 'c',
        first_name_2: 'again',
        電話_公司: '02',
        column_11: 'icon',
      },
    },
  });
});

test.each(['имя', 'नाम', 'ชื่อ', 'الاسم', 'お名前', '이름', 'Prénom', 'Prénom'.normalize('NFD')])(
  'The header %s names a variable that templates and tools read',
  (header) => {
    const row = columns(['Phone', header], { toNumber: 'Phone' })(['+886912345678', '7']);
    const { variables } = 'contact' in row ? row.contact : {};
    const [name = ''] = Object.keys(variables ?? {});
    expect(name).toBe(header.normalize('NFC'));
    expect(variableName.safeParse(name).success).toBe(true);
    expect(renderTemplate(`{% if ${name} %}{{ ${name} }}{% endif %}`, variables ?? {})).toBe('7');
    expect(templateWords(`{{ ${name} }}`)).toEqual([name]);
    expect(renderDeep({ to: `{{ ${name} }}` }, { [name]: 7 })).toEqual({ to: 7 });
  },
);

test('Empty cells and cells that are missing set nothing', () => {
  const read = columns(['Phone', 'Zone', 'Name'], { toNumber: 'Phone', timezone: 'Zone' });
  expect(read(['+886912345678', ' '])).toEqual({ contact: { toNumber: '+886912345678', variables: {} } });
  expect(read([])).toEqual({ contact: { variables: {} } });
});

test.each([
  [['x'.repeat(65), '', ''], 'invalid_number', /toNumber/],
  [['1', 'x'.repeat(65), ''], 'bad_timezone', /timezone/],
  [['1', '', 'tomorrow'], 'invalid_row', /notBefore/],
])('%j is no contact: %s', (cells, code, message) => {
  const mapping = { toNumber: 'Phone', timezone: 'Zone', notBefore: 'From' };
  expect(columns(['Phone', 'Zone', 'From'], mapping)(cells)).toEqual({
    code,
    message: expect.stringMatching(message),
  });
});

test('Cells without a header of the mapping are none; what is missing is named, with the columns of the fullest row', () => {
  const rows = [['Customers'], ['Tel', '', 'Name']];
  const mapping = { toNumber: 'Phone' };
  expect(rows.map((cells) => readColumns(cells, mapping))).toEqual([undefined, undefined]);
  expect(missingColumns(rows, mapping).message).toBe(
    'The file has no column Phone; its columns are Tel, Name',
  );
});
