import { expect, test } from 'vitest';

import { readColumns } from '../../../src/campaigns/imports/columns.ts';

const HEADERS = ['Phone', 'First Name', 'orderId', 'Größe', '姓名', '2nd', '', 'call', 'first_name'];

test('Columns that are not mapped are variables, by headers in snake_case where needed', () => {
  const read = readColumns(HEADERS, { toNumber: 'phone' });
  expect(read(['0912 345 678', ' Ada ', 'A-1', 'XL', '王', 'x', 'dropped', 'c', 'again', 'beyond'])).toEqual({
    contact: {
      toNumber: '0912 345 678',
      variables: {
        first_name: 'Ada',
        orderId: 'A-1',
        gro_e: 'XL',
        column_5: '王',
        _2nd: 'x',
        call_2: 'c',
        first_name_2: 'again',
      },
    },
  });
});

test('Empty cells and cells that are missing set nothing', () => {
  const read = readColumns(['Phone', 'Zone', 'Name'], { toNumber: 'Phone', timezone: 'Zone' });
  expect(read(['+886912345678', ' '])).toEqual({ contact: { toNumber: '+886912345678', variables: {} } });
  expect(read([])).toEqual({ contact: { variables: {} } });
});

test.each([
  [['x'.repeat(65), '', ''], 'invalid_number', /toNumber/],
  [['1', 'x'.repeat(65), ''], 'bad_timezone', /timezone/],
  [['1', '', 'tomorrow'], 'invalid_row', /notBefore/],
])('%j is no contact: %s', (cells, code, message) => {
  const mapping = { toNumber: 'Phone', timezone: 'Zone', notBefore: 'From' };
  expect(readColumns(['Phone', 'Zone', 'From'], mapping)(cells)).toEqual({
    code,
    message: expect.stringMatching(message),
  });
});

test('A header of the mapping that the file has not is named, with those that it has', () => {
  expect(() => readColumns(['Tel', '', 'Name'], { toNumber: 'Phone' })).toThrow(
    'The file has no column Phone; its columns are Tel, Name',
  );
});
