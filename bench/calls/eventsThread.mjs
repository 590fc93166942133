import { parentPort, workerData } from 'node:worker_threads';
import { createParser } from 'eventsource-parser';
import { Redis } from 'ioredis';

// A client of the live events in a thread of its own, since the thread of the phones has other work. Each message asks for
// the times since the last one.

/** As often as something happens in a busy installation. */
const PLAIN_INTERVAL_MS = 10;

/** @typedef {{ url: string, headers: Record<string, string>, redisUrl: string }} Watched */
const { url, headers, redisUrl } = /** @type {Watched} */ (workerData);
/** @type {number[]} */
const streamedMs = [];
/** @type {number[]} */
const plainMs = [];

const { body, status } = await fetch(url, { headers });
if (status !== 200 || !body) throw new Error(`no live events: ${status}`);
if (redisUrl !== '') await pingThrough(redisUrl);
parentPort?.on('message', () => {
  parentPort?.postMessage({ streamedMs: streamedMs.splice(0), plainMs: plainMs.splice(0) });
});
parentPort?.postMessage('ready');
const parser = createParser({
  onEvent: ({ data }) => void streamedMs.push(Date.now() - Date.parse(JSON.parse(data).at)),
});
for await (const text of body.pipeThrough(new TextDecoderStream())) parser.feed(text);

/** @param {string} redisUrl */
async function pingThrough(redisUrl) {
  const [publisher, subscriber] = [new Redis(redisUrl), new Redis(redisUrl)];
  subscriber.on('message', (_channel, sent) => void plainMs.push(performance.now() - Number(sent)));
  await subscriber.subscribe('bench');
  setInterval(() => void publisher.publish('bench', String(performance.now())), PLAIN_INTERVAL_MS);
}
