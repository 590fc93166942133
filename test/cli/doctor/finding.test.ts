import { expect, it } from 'vitest';
import { report, shownAddress } from '../../../src/cli/doctor/finding.ts';

it('A report has one line per finding, with its remedy below', () => {
  const text = report([
    { name: 'Redis', status: 'ok', message: 'fine' },
    { name: 'database', status: 'fail', message: 'away', remedy: 'Start it.' },
  ]);
  expect(text).toBe(
    [
      'ok    Redis     fine',
      'FAIL  database  away',
      '                -> Start it.',
      '',
      '1 ok, 0 warnings, 1 failed',
      '',
    ].join('\n'),
  );
});

it('A shown address has no user, password or query', () => {
  expect(shownAddress('redis+sentinel://u:p/w@a,b/master?password=x')).toBe('redis+sentinel://a,b/master');
});
