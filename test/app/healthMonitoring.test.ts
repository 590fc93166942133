import { expect, test } from 'vitest';
import { logHealthChanges } from '../../src/app/healthMonitoring.ts';
import { unavailable } from '../../src/base/errors.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

test('an outage is two lines: its beginning with the reason, its end with its length', () => {
  const lines: string[] = [];
  const logger = createLogger('error', { write: (line: string) => void lines.push(line) });
  const { onChange } = logHealthChanges('database', logger, createSimulatedClock());
  onChange({ isAway: true, reason: unavailable('database', new Error('connect ECONNREFUSED')) });
  onChange({ isAway: false, awayMs: 1_200 });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 50,
      time: expect.any(String),
      part: 'database',
      reason: 'connect ECONNREFUSED',
      msg: 'away; what needs it is refused until it is back',
    },
    { level: 50, time: expect.any(String), part: 'database', awayMs: 1_200, msg: 'back' },
  ]);
});
