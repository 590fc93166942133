import type { Worker } from 'node:worker_threads';

import type { Clock, Timer } from '../../base/clock.ts';
import { startThread } from '../../base/thread.ts';
import type { TextChunk } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import { CONTINUE, type ParseMessage, type ParseRequest } from './threadMessages.ts';

/** No document of the size that may be uploaded takes the thread as long, unless it was made to. */
const TIME_LIMIT_MS = 5 * 60_000;
/** Enough for 300 pages of PDF and for spreadsheets of some 100,000 cells. */
const MEMORY_LIMIT_MB = 192;
/** What lives shortly; counts beside the limit above. */
const YOUNG_MEMORY_MB = 16;

export interface ParseLimits {
  /** Of the thread's own time: while its chunks are kept, nothing counts. */
  readonly timeMs?: number;
  readonly memoryMb?: number;
}

export interface ParseDeps {
  readonly clock: Clock;
  readonly limits?: ParseLimits;
}

type Keep = (chunks: readonly TextChunk[]) => Promise<void>;

/**
 * Reads and cuts a document in a thread of its own, with limits: what a hostile or broken file does there, it does to
 * itself alone.
 *
 * @param keep - Takes the chunks in their order; the thread waits for it.
 * @throws {DocumentError} When the document cannot be read within the limits.
 * @throws What `keep` throws, and the signal's reason.
 */
export async function parseDocument(
  order: ParseRequest,
  keep: Keep,
  { clock, limits = {} }: ParseDeps,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { timeMs = TIME_LIMIT_MS, memoryMb = MEMORY_LIMIT_MB } = limits;
  const worker = startThread(new URL('./parseThread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MEMORY_MB },
    // Libraries say on the console what they think of a file; it is no business of the log.
    stdout: true,
    stderr: true,
  });
  // Else what they say would wait in memory.
  worker.stdout.resume();
  worker.stderr.resume();
  let giveUp: (error: unknown) => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const limit = createTimeLimit(clock, timeMs, () => giveUp(tooSlow(timeMs)));
  const onAbort = () => giveUp(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    limit.goOn();
    await Promise.race([givenUp, listen(worker, withoutTime(limit, keep), memoryMb)]);
  } finally {
    limit.pause();
    signal.removeEventListener('abort', onAbort);
    await worker.terminate();
  }
}

/** A stretch of time that can be interrupted. */
interface TimeLimit {
  goOn(): void;
  pause(): void;
}

function createTimeLimit(clock: Clock, limitMs: number, onOver: () => void): TimeLimit {
  let leftMs = limitMs;
  let running: { readonly timer: Timer; readonly sinceMs: number } | undefined;
  return {
    goOn() {
      running = { timer: clock.setTimer(onOver, Math.max(0, leftMs)), sinceMs: clock.monotonicMs() };
    },
    pause() {
      if (!running) return;
      running.timer.cancel();
      leftMs -= clock.monotonicMs() - running.sinceMs;
      running = undefined;
    },
  };
}

/** A database that is busy, or far away, is not the document's fault. */
function withoutTime(limit: TimeLimit, keep: Keep): Keep {
  return async (chunks) => {
    limit.pause();
    await keep(chunks);
    limit.goOn();
  };
}

function listen(worker: Worker, keep: Keep, memoryMb: number): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: ParseMessage) => {
      switch (message.type) {
        case 'chunks':
          keep(message.chunks).then(() => worker.postMessage(CONTINUE), reject);
          return;
        case 'done':
          resolve();
          return;
        case 'refused':
          reject(new DocumentError(message.reason));
          return;
        case 'broken':
          reject(unreadable(message.message));
          return;
      }
    });
    worker.once('error', (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      reject(isTooLarge ? tooLarge(memoryMb) : unreadable(error));
    });
    worker.once('exit', (code) => reject(unreadable(`the thread ended with code ${code}`)));
  });
}

function unreadable(cause: unknown): DocumentError {
  return new DocumentError('The file is damaged, or made in a way that cannot be read', { cause });
}

function tooSlow(timeMs: number): DocumentError {
  return new DocumentError(
    `The file takes more than ${Math.round(timeMs / 1000)} s to read; split it into smaller ones`,
  );
}

function tooLarge(memoryMb: number): DocumentError {
  return new DocumentError(
    `The file needs more than ${memoryMb} MB of memory to read; split it into smaller ones`,
  );
}
