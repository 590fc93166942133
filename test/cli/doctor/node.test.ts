import { describe, expect, it } from 'vitest';

import { checkNode, compare } from '../../../src/cli/doctor/node.ts';

describe('The Node check', () => {
  it.each([
    { version: '20.19.0', status: 'ok' },
    { version: '24.1.0', status: 'ok' },
    { version: '20.18.9', status: 'fail' },
    { version: '18.20.0', status: 'fail' },
  ])('reports $status for $version', ({ version, status }) => {
    expect(checkNode(version, '>=20.19.0')).toMatchObject({ status });
  });

  it.each([
    ['7.0.15', '6.2', 1],
    ['6.2', '6.2.0', 0],
    ['6.0.9', '6.2', -1],
    ['7.2.0-rc1', '7.2', 0],
  ])('compares %s with %s', (a, b, sign) => {
    expect(Math.sign(compare(a, b))).toBe(sign);
  });
});
