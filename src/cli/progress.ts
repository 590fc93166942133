import { setTimeout as delay } from 'node:timers/promises';
import type { ApiOptions } from './apiSession.ts';
import { type CliContext, CommandError, EXIT } from './command.ts';

/** The longest time that the service may be unavailable meanwhile. */
const PATIENCE_MS = 60_000;
const BAR_CHARACTERS = 24;
/** Erases the line, and cuts its new text at the edge of the terminal instead of wrapping it. */
const LINE_START = '\r\u001b[K\u001b[?7l';
const LINE_END = '\u001b[?7h';

export interface Polling<Value> {
  readonly everyMs: number;
  readonly isOver: (value: Value) => boolean;
  readonly onValue?: (value: Value) => unknown;
  readonly signal?: AbortSignal;
}

/**
 * Reads until it is over, also while a node of the service is replaced.
 *
 * @returns What was read last.
 * @throws {CommandError} When the service stays away, or refuses. The signal's error, when it aborts.
 */
export async function poll<Value>(read: () => Promise<Value>, polling: Polling<Value>): Promise<Value> {
  const { everyMs, isOver, onValue, signal } = polling;
  for (let readMs = performance.now(); ; await delay(everyMs, undefined, { signal })) {
    try {
      const value = await read();
      readMs = performance.now();
      await onValue?.(value);
      if (isOver(value)) return value;
    } catch (error) {
      const isAway = error instanceof CommandError && error.exitCode === EXIT.unavailable;
      if (!isAway || performance.now() - readMs > PATIENCE_MS) throw error;
    }
  }
}

/** Shows progress on one line of the error stream, so that the output stays clean; only on a terminal. */
export function progressLine(
  { writeError, isTerminal }: CliContext,
  { json }: ApiOptions,
): ((text: string, isLast: boolean) => void) | undefined {
  if (!isTerminal || json) return undefined;
  return (text, isLast) => writeError(`${LINE_START}${text}${LINE_END}${isLast ? '\n' : ''}`);
}

export function progressBar(done: number, total: number): string {
  const filled = Math.round((done / Math.max(1, total)) * BAR_CHARACTERS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CHARACTERS - filled)}`;
}
