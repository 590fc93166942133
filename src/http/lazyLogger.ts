import type { FastifyBaseLogger } from 'fastify';

type Line = [object, string?];

/**
 * A logger that is made when its first line is written: a request has one of its own, most requests write nothing to
 * it, and making one costs more than the rest of a small request's hooks.
 */
export function lazyLogger(make: () => FastifyBaseLogger): FastifyBaseLogger {
  return new LazyLogger(make) as FastifyBaseLogger;
}

class LazyLogger {
  readonly #make: () => FastifyBaseLogger;
  #made: FastifyBaseLogger | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  get #own(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }

  get level(): string {
    return this.#own.level;
  }

  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#own.child(...given);
  }

  fatal(...line: Line): void {
    this.#own.fatal(...line);
  }

  error(...line: Line): void {
    this.#own.error(...line);
  }

  warn(...line: Line): void {
    this.#own.warn(...line);
  }

  info(...line: Line): void {
    this.#own.info(...line);
  }

  debug(...line: Line): void {
    this.#own.debug(...line);
  }

  trace(...line: Line): void {
    this.#own.trace(...line);
  }

  silent(...line: Line): void {
    this.#own.silent(...line);
  }
}
