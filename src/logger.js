import { pino } from 'pino';
import { createIsoTime } from './base/isoTime.js';

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
/** Lines are written together: this many bytes at once, or what there is after so long. A kill loses them. */
const WRITE_BYTES = 4096;
const WRITE_MILLISECONDS = 100;
/** Structured logs on standard output, one JSON object a line; see pino. */
export function createLogger(level, destination) {
  const isoTime = createIsoTime();
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoTime(Date.now())}"`,
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { err: describeError },
    },
    destination ??
      pino.destination({ dest: 1, sync: false, minLength: WRITE_BYTES, periodicFlush: WRITE_MILLISECONDS }),
  );
}
/** An error's kind, message and stack, and its causes'; never other fields, which may hold what was sent. */
function describeError(error) {
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
