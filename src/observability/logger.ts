import { type DestinationStream, type Logger, pino } from 'pino';

import { systemClock } from '../base/clock.ts';
import { isUnavailable } from '../base/errors.ts';
import { createIsoTime } from '../base/isoTime.ts';
import { createLogBlocks, type LogBlocks } from './logBlocks.ts';

/** Fields that hold secrets, numbers that people dial, or words that people said. */
const REDACTED = [
  'authorization',
  'password',
  'secret',
  'token',
  'key',
  'apiKey',
  'fromNumber',
  'toNumber',
  'text',
  'content',
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Structured logs on standard output, one JSON object a line; see pino. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  const isoTime = createIsoTime();
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoTime(Date.now())}"`,
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { err: (error: unknown) => describeError(error) },
    },
    destination,
  );
}

/**
 * Standard output, where lines wait for each other. A kill loses those that wait; so does an exit, unless it calls
 * `flushSync`.
 */
export function standardOutput(): LogBlocks {
  return createLogBlocks(pino.destination({ dest: 1, sync: false }), systemClock);
}

/**
 * An error's kind, message and stack, and its causes'; never other fields, which may hold what was sent. Where something
 * is away, no line of the program is the reason, and every request would repeat it: such errors come without stacks.
 */
function describeError(error: unknown, withStack = !isUnavailable(error)): unknown {
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    ...(withStack ? { stack: error.stack } : {}),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause, withStack) }),
  };
}
