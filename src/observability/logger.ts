import { type DestinationStream, type Logger, pino } from 'pino';

import { isUnavailable } from '../base/errors.ts';

/** Lines are written in blocks of this size, since a write for each line costs more than formatting it. */
const BLOCK_BYTES = 8_192;
/** A line is written this long after it was logged at the latest. */
const FLUSH_INTERVAL_MS = 100;

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

/** Structured logs: one JSON object a line, as pino writes them. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { err: (error: unknown) => describeError(error) },
    },
    destination,
  );
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
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    ...(withStack ? { stack: error.stack } : {}),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause, withStack) }),
  };
}
