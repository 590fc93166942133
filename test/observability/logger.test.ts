import { expect, test } from 'vitest';

import { CallwayError, unavailable } from '../../src/base/errors.ts';
import { createLogger } from '../../src/observability/logger.ts';

function logged(error: unknown): Record<string, unknown> {
  const lines: string[] = [];
  createLogger('info', { write: (line: string) => void lines.push(line) }).warn({ err: error }, 'failed');
  return JSON.parse(lines.join('')).err;
}

test('An error is logged with its stack and with its cause', () => {
  const cause = new Error('the cause');
  const error = new CallwayError('internal', 'broken', 'It broke', { cause });
  expect(logged(error)).toEqual({
    type: 'CallwayError',
    message: 'It broke',
    code: 'broken',
    stack: error.stack,
    cause: { type: 'Error', message: 'the cause', stack: cause.stack },
  });
});

test('An unavailable dependency is logged without a stack', () => {
  expect(logged(unavailable('database', new Error('connect ECONNREFUSED')))).toEqual({
    type: 'CallwayError',
    message: 'database is unavailable at the moment; try again shortly',
    code: 'database_unavailable',
    cause: { type: 'Error', message: 'connect ECONNREFUSED' },
  });
});
