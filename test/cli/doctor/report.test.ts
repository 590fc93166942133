import { expect, it } from 'vitest';
import { report } from '../../../src/cli/doctor/report.ts';

it('reports one finding a line, with its remedy below', () => {
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
      '1 ok, 0 to look at, 1 failed',
      '',
    ].join('\n'),
  );
});
