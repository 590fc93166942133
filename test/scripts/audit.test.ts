import { describe, expect, test } from 'vitest';

import { isGrave, readAudit } from '../../scripts/lib/audit.mjs';

const finding = (name: string, severity: string, fixAvailable: unknown) => ({
  name,
  severity,
  range: '<2.0.0',
  fixAvailable,
  via: [],
});

describe('an audit', () => {
  test('lists advisories, the most severe first', () => {
    const vulnerabilities = {
      a: finding('a', 'low', false),
      b: finding('b', 'critical', { name: 'b', version: '2.0.0' }),
      c: finding('c', 'of tomorrow', true),
      d: finding('d', 'moderate', true),
    };
    const audit = readAudit(JSON.stringify({ auditReportVersion: 2, vulnerabilities }));
    expect(audit).toMatchObject({ asked: true });
    const findings = audit.asked ? audit.findings : [];
    expect(findings.map(({ name, fix }) => [name, fix])).toEqual([
      ['b', true],
      ['c', true],
      ['d', true],
      ['a', false],
    ]);
    expect(findings.filter(isGrave).map(({ name }) => name)).toEqual(['b', 'c']);
  });

  test('of packages without advisories is empty', () => {
    expect(readAudit('{"vulnerabilities":{}}')).toEqual({ asked: true, findings: [] });
  });

  test.each([
    ['a refusal', '{"message":"405 Method Not Allowed","error":{"summary":""}}', '405 Method Not Allowed'],
    [
      'a network that is away',
      '{"error":{"code":"ENOTFOUND","summary":"getaddrinfo ENOTFOUND"}}',
      'getaddrinfo ENOTFOUND',
    ],
    ['nothing', '', 'npm returned no report'],
    ['something else', '<html>', 'npm returned no report'],
    ['no report', '{"vulnerabilities":null}', 'npm returned no report'],
  ])('whose output is %s counts as not done', (_what, output, reason) => {
    expect(readAudit(output)).toEqual({ asked: false, reason });
  });
});
