import { createParser } from 'eventsource-parser';
import { Redis } from 'ioredis';

import type { Installation } from './installation.ts';

/** As often as something happens in a busy installation. */
const PLAIN_INTERVAL_MS = 10;

/** How long events took, in ms. */
export interface EventTimes {
  /** From happening, by the event's own time, to the client of the project's stream. */
  readonly streamedMs: readonly number[];
  /** From a publish to the subscriber of a plain Redis, in this process; empty without a Redis of its own. */
  readonly plainMs: readonly number[];
}

/** Follows the events of the installation's project, beside messages of its Redis alone. */
export async function watchEvents({ api, project, redisUrl }: Installation) {
  const streamedMs: number[] = [];
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${project.key}` };
  const { body } = await fetch(`${project.baseUrl}/events`, { headers, signal: stop.signal });
  if (!body) throw new Error(`${api.url} streams no events`);
  const parser = createParser({
    onEvent: ({ data }) => void streamedMs.push(Date.now() - Date.parse(JSON.parse(data).at)),
  });
  const reading = (async () => {
    for await (const text of body.pipeThrough(new TextDecoderStream())) parser.feed(text);
  })().catch(() => undefined);
  const plain = redisUrl === '' ? undefined : await pingThrough(redisUrl);
  return {
    /** What came since the last reading. */
    read: (): EventTimes => ({ streamedMs: streamedMs.splice(0), plainMs: plain?.times.splice(0) ?? [] }),
    async close(): Promise<void> {
      stop.abort();
      await reading;
      plain?.close();
    },
  };
}

async function pingThrough(url: string) {
  const [publisher, subscriber] = [new Redis(url), new Redis(url)];
  const times: number[] = [];
  subscriber.on('message', (_channel, sent) => void times.push(performance.now() - Number(sent)));
  await subscriber.subscribe('bench');
  const timer = setInterval(
    () => void publisher.publish('bench', String(performance.now())),
    PLAIN_INTERVAL_MS,
  );
  return {
    times,
    close() {
      clearInterval(timer);
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
