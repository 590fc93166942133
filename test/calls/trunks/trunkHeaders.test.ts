import { describe, expect, test } from 'vitest';

import { trunkInput, trunkPatch } from '../../../src/calls/trunks/trunk.ts';
import {
  headersFromVariables,
  headersToVariables,
  variablesFromHeaders,
  variablesToHeaders,
} from '../../../src/calls/trunks/trunkHeaders.ts';

describe('Headers that variables may fill', () => {
  test.each([
    'Via',
    'from',
    'CONTACT',
    'Route',
    'Authorization',
    'Call-ID',
    'f',
    'V',
    'X Y',
    'X:',
    'X\r\nVia',
  ])('refuse %j', (header) => {
    expect(variablesToHeaders.safeParse([{ variable: 'a', header }]).success).toBe(false);
    const trunk = { name: 'a', host: 'sip.example', headers: { [header]: 'x' } };
    expect(trunkInput.safeParse(trunk).success).toBe(false);
    expect(trunkPatch.safeParse({ headers: trunk.headers }).success).toBe(false);
  });

  test.each(['X-Ticket', 'P-Charging-Vector', 'User-to-User', 'Diversion'])('allow %s', (header) => {
    expect(variablesToHeaders.safeParse([{ variable: 'a', header }]).success).toBe(true);
  });

  test.each([
    ['plain', 'plain'],
    ['Ada\r\nVia: SIP/2.0/UDP evil\0', 'Ada Via: SIP/2.0/UDP evil'],
    [42, '42'],
    [false, 'false'],
    [{ a: ['ü'] }, '{"a":["ü"]}'],
    ['x'.repeat(2000), 'x'.repeat(500)],
    ['  ', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('carry %j as one line', (value, expected) => {
    const headers = headersFromVariables([{ variable: 'a', header: 'X-A' }], { a: value });
    expect(headers['X-A']).toBe(expected);
  });

  test('read no inherited property', () => {
    expect(headersFromVariables([{ variable: 'constructor', header: 'X-A' }], {})).toEqual({});
  });
});

describe('Variables that headers fill', () => {
  test.each([
    ['Authorization', 'a'],
    ['proxy-authorization', 'a'],
    ['X-A', 'call'],
    ['X-A', 'channel'],
    ['X-A', 'not a name'],
  ])('refuse %s as %s', (header, variable) => {
    expect(headersToVariables.safeParse([{ header, variable }]).success).toBe(false);
  });

  test('take the first header that has a value, cleaned and cut', () => {
    const read = (name: string) =>
      ({ 'X-A': ' one\ttwo ', 'X-B': 'b', 'X-Long': 'x'.repeat(9000) })[name as 'X-A' | 'X-B' | 'X-Long'];
    const mappings = [
      { header: 'X-Missing', variable: 'a' },
      { header: 'X-A', variable: 'a' },
      { header: 'X-B', variable: 'a' },
      { header: 'X-Long', variable: 'long' },
    ];
    expect(variablesFromHeaders(mappings, read)).toEqual({ a: 'one two', long: 'x'.repeat(500) });
  });
});
