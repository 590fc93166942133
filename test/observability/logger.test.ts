import { expect, test } from 'vitest';

import { CallwayError, unavailable } from '../../src/base/errors.ts';
import { createLogger } from '../../src/observability/logger.ts';

function logged(error: unknown): Record<string, unknown> {
  const lines: string[] = [];
  createLogger('info', { write: (line: string) => void lines.push(line) }).warn({ err: error }, 'failed');
  return JSON.parse(lines.join('')).err;
}

test('an error is told with its stack, and so is its cause', () => {
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

test('what is away is told without any stack', () => {
  expect(logged(unavailable('database', new Error('connect ECONNREFUSED')))).toEqual({
    type: 'CallwayError',
    message: 'database is away at the moment; try again shortly',
    code: 'database_unavailable',
    cause: { type: 'Error', message: 'connect ECONNREFUSED' },
  });
});
