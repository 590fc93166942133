import type { Clock } from '../../base/clock.ts';
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
  close(): Promise<void>;
}

/** Reads an event stream, or the one JSON document that an endpoint sends which does not stream. */
export function createResponseEvents(response: Response, clock: Clock): ResponseEvents {
  const body = response.body?.getReader();
  const isDocument = response.headers.get('content-type')?.includes('application/json');
  const parser = isDocument ? createDocumentParser() : createEventStreamParser();
  let isOver = body === undefined;
  let isComplete = false;

  const readPiece = async (limitMs: number | undefined): Promise<string[]> => {
    if (!body) return [];
    const piece = limitMs === undefined ? await body.read() : await readWithin(body, limitMs, clock);
    isOver = piece?.done ?? true;
    const events = piece?.value ? parser.push(piece.value) : parser.end();
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
      if (body && !isOver) await readWithin(body, DRAIN_MS, clock);
      isOver = true;
      return undefined;
    },
    async close() {
      isOver = true;
      // A body that failed says so again here, and its reader has heard it already.
      await body?.cancel().catch(() => undefined);
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

type Body = ReadableStreamDefaultReader<Uint8Array>;
type Piece = Awaited<ReturnType<Body['read']>>;

/** @returns Undefined when the read fails or takes longer. */
function readWithin(body: Body, limitMs: number, clock: Clock): Promise<Piece | undefined> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(() => resolve(undefined), limitMs);
    const settle = (piece?: Piece) => {
      timer.cancel();
      resolve(piece);
    };
    body.read().then(settle, () => settle());
  });
}
