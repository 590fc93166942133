import type { Worker } from 'node:worker_threads';

import type { Clock, Timer } from '../../base/clock.ts';
import { startThread } from '../../base/thread.ts';
import type { TextChunk } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import { CONTINUE, type ParseMessage, type ParseRequest } from './threadMessages.ts';

/** No well-formed document of the maximum upload size takes that long. */
const TIME_LIMIT_MS = 5 * 60_000;
/** Enough for 300 pages of PDF and for spreadsheets of some 100,000 cells. */
const MEMORY_LIMIT_MB = 192;
/** The young generation, in addition to the limit above. */
const YOUNG_MEMORY_MB = 16;

export interface ParseLimits {
  /** Time that the thread works; storing its chunks does not count. */
  readonly timeMs?: number;
  readonly memoryMb?: number;
}

export interface ParseDeps {
  readonly clock: Clock;
  readonly limits?: ParseLimits;
}

type StoreChunks = (chunks: readonly TextChunk[]) => Promise<void>;

/**
 * Parses and chunks a document in a thread of its own, with limits of time and memory, so that a hostile or broken file
 * cannot harm the process.
 *
 * @param store - Stores the chunks, in order; the thread waits for it.
 * @throws {DocumentError} When the document cannot be read within the limits.
 * @throws The error of `store`, or the signal's reason.
 */
export async function parseDocument(
  request: ParseRequest,
  store: StoreChunks,
  { clock, limits = {} }: ParseDeps,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { timeMs = TIME_LIMIT_MS, memoryMb = MEMORY_LIMIT_MB } = limits;
  const worker = startThread(new URL('./parseThread.ts', import.meta.url), {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MEMORY_MB },
    // Parser libraries print warnings about the file.
    stdout: true,
    stderr: true,
  });
  // Discards the output, which would be buffered.
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
    limit.resume();
    await Promise.race([givenUp, listen(worker, withoutTime(limit, store), memoryMb)]);
  } finally {
    limit.pause();
    signal.removeEventListener('abort', onAbort);
    await worker.terminate();
  }
}

/** A timeout that can be paused. */
interface TimeLimit {
  resume(): void;
  pause(): void;
}

function createTimeLimit(clock: Clock, limitMs: number, onTimeout: () => void): TimeLimit {
  let leftMs = limitMs;
  let running: { readonly timer: Timer; readonly sinceMs: number } | undefined;
  return {
    resume() {
      running = { timer: clock.setTimer(onTimeout, Math.max(0, leftMs)), sinceMs: clock.monotonicMs() };
    },
    pause() {
      if (!running) return;
      running.timer.cancel();
      leftMs -= clock.monotonicMs() - running.sinceMs;
      running = undefined;
    },
  };
}

/** A slow database does not count towards the document's time limit. */
function withoutTime(limit: TimeLimit, store: StoreChunks): StoreChunks {
  return async (chunks) => {
    limit.pause();
    await store(chunks);
    limit.resume();
  };
}

function listen(worker: Worker, store: StoreChunks, memoryMb: number): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: ParseMessage) => {
      switch (message.type) {
        case 'chunks':
          store(message.chunks).then(() => worker.postMessage(CONTINUE), reject);
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
    worker.once('exit', (code) => reject(unreadable(`the thread exited with code ${code}`)));
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
