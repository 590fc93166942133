import { decodeText } from './message/bytes.ts';
import type { TracedMessage, TransportName } from './transport/types.ts';

/** A message of a traced call, as text. */
export interface TraceEntry {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  readonly direction: 'in' | 'out';
  readonly transport: TransportName;
  /** `address:port` of the peer. */
  readonly remote: string;
  readonly callId: string;
  readonly text: string;
}

/** Collects the messages of traced calls in batches. */
export interface Tracer {
  follow(callId: string): void;
  unfollow(callId: string): void;
  /** Receives the server's messages. It is cheap for calls that are not traced. */
  readonly onMessage: (message: TracedMessage) => void;
  close(): void;
}

/** Short, since users open the trace of an ended call at once. */
const BATCH_MS = 10;
/** Bounds the memory during a flood. */
const MAX_BATCH = 1000;

export function createTracer(onBatch: (entries: TraceEntry[]) => void): Tracer {
  const followed = new Set<string>();
  let batch: TraceEntry[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    const entries = batch;
    batch = [];
    if (entries.length > 0) onBatch(entries);
  };
  return {
    follow: (callId) => followed.add(callId),
    unfollow: (callId) => followed.delete(callId),
    onMessage(message) {
      if (!followed.has(message.callId) || batch.length >= MAX_BATCH) return;
      batch.push({ ...message, text: decodeText(message.text) });
      timer ??= setTimeout(flush, BATCH_MS).unref();
    },
    close() {
      clearTimeout(timer);
      flush();
      followed.clear();
    },
  };
}
