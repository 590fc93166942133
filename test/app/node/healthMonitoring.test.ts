import { expect, test } from 'vitest';
import { logHealthChanges } from '../../../src/app/node/healthMonitoring.ts';
import { unavailable } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

test('An outage logs two lines: its start with the reason and its end with the duration', () => {
  const lines: string[] = [];
  const logger = createLogger('error', { write: (line: string) => void lines.push(line) });
  const { onChange } = logHealthChanges('database', logger, createSimulatedClock());
  onChange({ isDown: true, reason: unavailable('database', new Error('connect ECONNREFUSED')) });
  onChange({ isDown: false, downMs: 1_200 });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 50,
      time: expect.any(String),
      part: 'database',
      reason: 'connect ECONNREFUSED',
      msg: 'dependency unavailable; requests that need it are rejected',
    },
    {
      level: 50,
      time: expect.any(String),
      part: 'database',
      downMs: 1_200,
      msg: 'dependency available again',
    },
  ]);
});
