import type { ReadableStream } from 'node:stream/web';
import { TextDecoderStream, TransformStream } from 'node:stream/web';
import { EventSourceParserStream } from 'eventsource-parser/stream';

/** Far beyond any event; an endpoint that exceeds it does not speak this protocol. */
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024;
/** OpenAI's end of a stream. */
export const DONE = '[DONE]';

/** Some servers leave it out of the last event. */
const END_OF_EVENT = '\n\n';

/** @returns The data of each event; a JSON document counts as a stream of one event, for endpoints that do not stream. */
export async function eventData(response: Response): Promise<AsyncIterable<EventData> | EventData[]> {
  if (response.headers.get('content-type')?.includes('application/json'))
    return [{ data: await response.text() }, { data: DONE }];
  const body = response.body as ReadableStream<Uint8Array> | null;
  if (!body) return [];
  return body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new TransformStream({ flush: (stream) => stream.enqueue(END_OF_EVENT) }))
    .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_CHARACTERS }));
}

export interface EventData {
  readonly data: string;
}
