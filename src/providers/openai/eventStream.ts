/** Far beyond any answer's piece; an endpoint that sends more without a line's end is not speaking this protocol. */
const LONGEST_EVENT_CHARACTERS = 4 * 1024 * 1024;
const DATA_FIELD = 'data:';

/** Turns the bytes of an event stream into the data of its events. */
export interface EventStreamParser {
  /**
   * @param bytes - The next piece as the network cut it, also in the middle of a character.
   * @returns The data of each event that this piece completes, without empty ones.
   * @throws {RangeError} When an event grows beyond 4 Mi characters.
   */
  push(bytes: Uint8Array): string[];
  /** Tells that the stream is over. @returns What a last event without its blank line holds. */
  end(): string[];
}

/**
 * Reads only what chat endpoints use: `data` fields. Comments, event names, ids and retry times are passed over.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export function createEventStreamParser(): EventStreamParser {
  const decoder = new TextDecoder();
  let rest = '';
  let data = '';

  /** @returns The event that this line completes; empty for any other line. */
  const takeLine = (line: string): string => {
    if (line.startsWith(DATA_FIELD)) {
      const value = line.slice(DATA_FIELD.length).trim();
      data = data === '' ? value : `${data}\n${value}`;
    }
    if (line !== '' && line !== '\r') return '';
    const event = data;
    data = '';
    return event;
  };

  const take = (text: string): string[] => {
    const events: string[] = [];
    const lines = rest + text;
    let start = 0;
    for (let end = lines.indexOf('\n'); end >= 0; end = lines.indexOf('\n', start)) {
      const event = takeLine(lines.slice(start, end));
      if (event !== '') events.push(event);
      start = end + 1;
    }
    rest = lines.slice(start);
    if (rest.length + data.length > LONGEST_EVENT_CHARACTERS) throw new RangeError('an event is too long');
    return events;
  };

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(`${decoder.decode()}\n\n`),
  };
}
