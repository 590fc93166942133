import type { ReadableStream } from 'node:stream/web';
import { TextDecoderStream, TransformStream } from 'node:stream/web';
import { EventSourceParserStream, ParseError } from 'eventsource-parser/stream';
import { ModelError } from '../ports/modelError.ts';

/** The longest event. An endpoint that exceeds it does not speak this protocol. */
const MAX_EVENT_CHARACTERS = 1024 * 1024;
/**
 * The most events that are read at once, more than a model sends at once. Other calls of the thread continue before the
 * next ones.
 */
const EVENTS_AT_ONCE = 50;
/** The end of a stream in OpenAI's API. */
export const DONE = '[DONE]';

/** Some servers leave it out of the last event. */
const END_OF_EVENT = '\n\n';

/**
 * @returns The data of each event; a JSON document counts as a stream of one event, for endpoints that do not stream.
 * @throws {ModelError} `model_malformed` While it is read, when an event is too long.
 */
export async function eventData(response: Response): Promise<AsyncIterable<EventData> | EventData[]> {
  if (response.headers.get('content-type')?.includes('application/json'))
    return [{ data: await response.text() }, { data: DONE }];
  const body = response.body as ReadableStream<Uint8Array> | null;
  if (!body) return [];
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new TransformStream({ flush: (stream) => stream.enqueue(END_OF_EVENT) }))
    .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_CHARACTERS }));
  return paced(events);
}

async function* paced(events: AsyncIterable<EventData>): AsyncGenerator<EventData, void> {
  let count = 0;
  try {
    for await (const event of events) {
      yield event;
      count += 1;
      if (count % EVENTS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const message = `The model's endpoint sent an event of more than ${MAX_EVENT_CHARACTERS} characters`;
    throw new ModelError('model_malformed', message, { retryable: false });
  }
}

export interface EventData {
  readonly data: string;
}
