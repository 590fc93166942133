import type { DestinationStream } from 'pino';

import type { Clock, Timer } from '../base/clock.ts';

/** So much goes out at once… */
export const BLOCK_CHARACTERS = 16_384;
/** … or what there is after so long. */
export const LONGEST_WAIT_MS = 100;

/** Where blocks go, as `pino.destination` makes it: writes without waiting, and in order. */
export interface BlockSink {
  write(block: string): unknown;
  flush(done?: (error?: Error) => void): void;
  /** Returns when all is written. */
  flushSync(): void;
}

export interface LogBlocks extends DestinationStream {
  /** Hands on what there is. */
  flush(done?: (error?: Error) => void): void;
  /** Writes what there is, and returns when it is written: for the end of the process. */
  flushSync(): void;
}

/**
 * Gathers lines and hands them on in blocks. The destination of pino gathers as well, but measures all that it has
 * gathered anew with each line, and a write for a few lines costs more than making them.
 */
export function createLogBlocks(sink: BlockSink, clock: Pick<Clock, 'setTimer'>): LogBlocks {
  let block = '';
  let timer: Timer | undefined;

  const handOn = () => {
    timer?.cancel();
    timer = undefined;
    if (block === '') return;
    const lines = block;
    block = '';
    sink.write(lines);
  };
  return {
    write(line) {
      block += line;
      if (block.length >= BLOCK_CHARACTERS) handOn();
      else timer ??= clock.setTimer(handOn, LONGEST_WAIT_MS);
    },
    flush(done) {
      handOn();
      sink.flush(done);
    },
    flushSync() {
      handOn();
      sink.flushSync();
    },
  };
}
