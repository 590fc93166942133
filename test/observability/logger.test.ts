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

test.each([
  ['This project may not call +886912345678: no', 'This project may not call +886*******78: no'],
  ['sip:0912345678@192.0.2.10:5060 answered 486', 'sip:0912****78@192.0.2.10:5060 answered 486'],
  ['sip:4930123456@b, 0912345678', 'sip:4930****56@b, 0912****78'],
  ['after 12345678 ms in 01a22361-59ca-7518-b697-000000000001', undefined],
])('The numbers of a reason, and of an error’s message, are masked: %s', (text, masked = text) => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
  logger.warn({ reason: text, err: new Error(text) }, 'failed');
  const { reason, err } = JSON.parse(lines.join(''));
  expect([reason, err.message]).toEqual([masked, masked]);
  expect(err.stack).toContain(masked);
});

test('Failures of Redis are one line a second, and all others are written', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const refused = Object.assign(new Error('MISCONF Redis is configured to save'), { name: 'ReplyError' });
  const child = logger.child({ callId: 'c' });
  for (let count = 0; count < 50; count += 1) {
    logger.warn({ err: unavailable('redis', refused) }, 'lock not renewed');
    child.error({ err: refused }, 'job not taken');
    logger.error(refused, 'worker failed');
  }
  logger.warn({ err: unavailable('database') }, 'turn not stored');
  expect(lines.map(({ msg }) => msg)).toEqual(['lock not renewed', 'turn not stored']);
});
