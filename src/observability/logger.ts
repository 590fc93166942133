import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';

import { isUnavailable } from '../base/errors.ts';
import { maskNumber } from '../calls/numbers/number.ts';

/** Lines are written in blocks of this size, since a write for each line costs more than formatting it. */
const BLOCK_BYTES = 8_192;
/** A line is written this long after it was logged at the latest. */
const FLUSH_INTERVAL_MS = 100;

const REDIS_FAILURES_EVERY_MS = 1_000;

/** Fields that hold secrets, dialed numbers or spoken words. */
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

/** Telephone numbers in free text: with a plus sign, in a SIP or tel URI, or in local form. */
const NUMBERS_IN_TEXT = /(?:(?<=\b(?:sips?|tel):)\+?|\+|(?<![\w-])(?=0))\d{7,15}(?![\w-])/g;

/** Structured logs: one JSON object a line, as pino writes them. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: REDACTED, censor: '[redacted]' },
      hooks: { logMethod: limitRedisFailures() },
      serializers: {
        err: (error: unknown) => describeError(error),
        reason: (reason: unknown) => (typeof reason === 'string' ? maskNumbers(reason) : reason),
      },
    },
    destination,
  );
}

/**
 * Limits the failures of Redis to one log line a second, with the number of suppressed ones: each request and each
 * timer fails while Redis is unavailable or refuses writes.
 */
function limitRedisFailures(): (this: Logger, args: Parameters<LogFn>, method: LogFn) => void {
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return function limit(this: Logger, args, method) {
    const [fields] = args as unknown[];
    const isObject = typeof fields === 'object' && fields !== null;
    const error = isObject && 'err' in fields ? fields.err : fields;
    if (!isObject || !isRedisFailure(error)) return method.apply(this, args);
    const nowMs = performance.now();
    if (nowMs - writtenAtMs < REDIS_FAILURES_EVERY_MS) {
      suppressed += 1;
      return;
    }
    const more = fields instanceof Error ? { err: fields, suppressed } : { ...fields, suppressed };
    const [, ...message] = args;
    writtenAtMs = nowMs;
    suppressed = 0;
    method.apply(this, [more, ...message] as Parameters<LogFn>);
  };
}

/** A refused command, such as one that writes on a full disk or a read-only replica, is a `ReplyError`. */
function isRedisFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isOwn = error.name === 'ReplyError' || ('code' in error && error.code === 'redis_unavailable');
  return isOwn || isRedisFailure(error.cause);
}

/** Writes a line that another thread's logger has formatted where this logger writes its own. */
export function writeLine(logger: Logger, line: string): void {
  const { [pino.symbols.streamSym]: output } = logger as unknown as Record<symbol, DestinationStream>;
  output?.write(line);
}

/** Standard output, buffered. Call `flushSync` before the process exits; a kill loses the buffered lines. */
export function standardOutput(): ReturnType<typeof pino.destination> {
  return pino.destination({
    dest: 1,
    sync: false,
    minLength: BLOCK_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
  });
}

/**
 * An error's type, message, code and stack, and the same of its causes. Other fields are left out, since they may hold
 * what was sent. An unavailable dependency is no fault of the code, and each request would log it: no stack then.
 */
function describeError(error: unknown, withStack = !isUnavailable(error)): unknown {
  if (!(error instanceof Error)) return maskNumbers(String(error));
  return {
    type: error.name,
    message: maskNumbers(error.message),
    code: 'code' in error ? error.code : undefined,
    stack: withStack ? maskNumbers(error.stack ?? '') : undefined,
    cause: error.cause === undefined ? undefined : describeError(error.cause, withStack),
  };
}

/** Masks the telephone numbers in prose. */
function maskNumbers(text: string): string {
  return text.replace(NUMBERS_IN_TEXT, maskNumber);
}
