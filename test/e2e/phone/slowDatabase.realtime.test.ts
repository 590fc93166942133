import { afterAll, expect, test } from 'vitest';

import { createTestDatabase } from '../../support/postgres.ts';
import { startTcpProxy } from '../../support/tcpProxy.ts';
import { REPLIES_TO_DIGITS, type Seen, startPeople } from '../faults/support/people.ts';
import { phoneInstallation } from './support/installation.ts';
import type { Line } from './support/line.ts';
import { chatReply, speechReply, startVendor, transcriptionReply } from './support/vendor.ts';

const DISTANCE_MS = 300;
/** Every call waits for a database that delays; the work of the machine delays some. */
const MOST_CALLS = 5;
const NEVER: Quickest = { firstMs: Number.POSITIVE_INFINITY, replyMs: Number.POSITIVE_INFINITY };
const DIGITS = 2;
/** On a machine with other work; a fifth of what the waits for the database came to. */
const TOLERANCE_MS = 200;

const database = await createTestDatabase('newest');
const server = new URL(database.url);
const proxy = await startTcpProxy({ host: server.hostname, port: Number(server.port) });
server.port = String(proxy.port);
const people = await startPeople();
// Runs after the installation's.
afterAll(async () => {
  await people.close();
  await proxy.close();
  await database.drop();
});
const replies = { chat: chatReply('Hello.'), speech: speechReply, transcription: transcriptionReply };
const vendor = await startVendor((service) => replies[service]);
// A vendor that projects may have a key of their own for.
const installation = await phoneInstallation({
  OPENAI_BASE_URL: vendor.baseUrl,
  OPENAI_API_KEY: 'key',
  DATABASE_URL: server.href,
});

/** From the answer to the agent's first sound, and from each digit to the sound after it. */
function waitsIn(seen: readonly Seen[]): { first: number; replies: number[] } {
  const timesOf = (kind: Seen['event']['kind']) =>
    seen.flatMap(({ event }) => (event.kind === kind ? [event.atMs] : []));
  const sounds = timesOf('speech_started');
  const digits = timesOf('digits_sent');
  return {
    first: sounds[0] ?? Number.NaN,
    replies: digits.map((at) => (sounds.find((sound) => sound > at) ?? Number.NaN) - at),
  };
}

interface Quickest {
  readonly firstMs: number;
  readonly replyMs: number;
}

/** The shortest waits of one more call: what the machine does beside it only adds. */
async function callAlso(line: Line, { firstMs, replyMs }: Quickest = NEVER): Promise<Quickest> {
  const toNumber = people.answering(DIGITS);
  await line.waitForEnd(await line.call({ toNumber }));
  const { first, replies } = waitsIn(people.seen(toNumber));
  expect(replies).toHaveLength(DIGITS);
  return { firstMs: Math.min(firstMs, first), replyMs: Math.min(replyMs, ...replies) };
}

test('A database 300 ms away delays neither the first words nor a reply', { timeout: 240_000 }, async () => {
  const line = await installation().makeLine({
    trunks: [{ port: people.carrier.sipPort }],
    pathway: REPLIES_TO_DIGITS,
  });
  const near = await callAlso(line, await callAlso(line));
  proxy.delayMs = DISTANCE_MS;
  let far = NEVER;
  const isDelayed = () =>
    far.firstMs - near.firstMs >= TOLERANCE_MS || far.replyMs - near.replyMs >= TOLERANCE_MS;
  for (let calls = 0; calls < MOST_CALLS && isDelayed(); calls += 1) far = await callAlso(line, far);
  proxy.delayMs = 0;
  expect({ near, far, isDelayed: isDelayed() }).toMatchObject({ isDelayed: false });
});
