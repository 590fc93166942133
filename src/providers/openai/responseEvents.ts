import type { Clock } from '../../base/clock.ts';
import type { ByteStream } from './byteStream.ts';
import { createEventStreamParser, type EventStreamParser } from './eventStream.ts';

const END_OF_STREAM = '[DONE]';
/** How long the end of a response is waited for once all of the answer is there: its connection can then be kept. */
const DRAIN_MS = 250;

/** The events of a response, in batches as they arrive. */
export interface ResponseEvents {
  /**
   * @param limitMs - When given, a longer wait, or a failure, counts as the end.
   * @returns The data of at least one event; undefined at the end.
   */
  read(limitMs?: number): Promise<string[] | undefined>;
  /** Whether the endpoint said that it is done, and did not merely stop. */
  readonly isComplete: boolean;
  /** Lets go of the connection, where it is not free already; idempotent. */
  close(): void;
}

/**
 * Reads an event stream, or the one JSON document that an endpoint sends which does not stream.
 *
 * @param isDocument - Whether it is the latter.
 */
export function createResponseEvents(body: ByteStream, isDocument: boolean, clock: Clock): ResponseEvents {
  const parser = isDocument ? createDocumentParser() : createEventStreamParser();
  let isOver = false;
  let isComplete = false;

  const readPiece = async (limitMs: number | undefined): Promise<string[]> => {
    const piece = limitMs === undefined ? await body.read() : await readWithin(body, limitMs, clock);
    isOver = piece === undefined;
    const events = piece ? parser.push(piece) : parser.end();
    const end = events.indexOf(END_OF_STREAM);
    if (end < 0) return events;
    isComplete = true;
    return events.slice(0, end);
  };

  return {
    get isComplete() {
      return isComplete;
    },
    async read(limitMs) {
      while (!isOver && !isComplete) {
        const events = await readPiece(limitMs);
        if (events.length > 0) return events;
      }
      if (!isOver) await readWithin(body, DRAIN_MS, clock);
      isOver = true;
      return undefined;
    },
    close() {
      isOver = true;
      body.cancel();
    },
  };
}

/** Gives a whole document as the one event of a stream. */
function createDocumentParser(): EventStreamParser {
  const decoder = new TextDecoder();
  let text = '';
  return {
    push(bytes) {
      text += decoder.decode(bytes, { stream: true });
      return [];
    },
    end: () => [text, END_OF_STREAM],
  };
}

/** @returns Undefined at the end, and when the read fails or takes longer. */
function readWithin(body: ByteStream, limitMs: number, clock: Clock): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(() => resolve(undefined), limitMs);
    const settle = (piece?: Uint8Array) => {
      timer.cancel();
      resolve(piece);
    };
    body.read().then(settle, () => settle());
  });
}
