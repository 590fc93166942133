import { Writable } from 'node:stream';
import { expect, it } from 'vitest';

import { lazyLogger } from '../../src/http/lazyLogger.ts';
import { createLogger } from '../../src/logger.ts';

function setUp() {
  const lines: Record<string, unknown>[] = [];
  let made = 0;
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const logger = lazyLogger(() => {
    made += 1;
    return createLogger('trace', destination).child({ requestId: 'r-1' });
  });
  return { logger, lines, made: () => made };
}

it('makes its logger at the first line, and once', () => {
  const { logger, made } = setUp();
  expect(made()).toBe(0);
  logger.info({}, 'one');
  logger.info({}, 'two');
  expect(made()).toBe(1);
});

it.each(['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)('passes %s on as it is', (level) => {
  const { logger, lines } = setUp();
  logger[level]({ password: 'hidden', count: 1 }, 'said');
  expect(lines).toEqual([
    expect.objectContaining({ requestId: 'r-1', password: '[redacted]', count: 1, msg: 'said' }),
  ]);
});

it('has children and a level of its own logger', () => {
  const { logger, lines } = setUp();
  logger.child({ part: 'x' }).warn('words alone');
  logger.silent({}, 'nothing');
  expect(logger.level).toBe('trace');
  expect(lines).toEqual([expect.objectContaining({ requestId: 'r-1', part: 'x', msg: 'words alone' })]);
});
