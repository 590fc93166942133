import { afterAll, expect, test } from 'vitest';

import { createTestDatabase } from '../../support/postgres.ts';
import { startTcpProxy } from '../../support/tcpProxy.ts';
import { REPLIES_TO_DIGITS, type Seen, startPeople } from '../faults/support/people.ts';
import { phoneInstallation } from './support/installation.ts';
import type { Line } from './support/line.ts';

const DISTANCE_MS = 300;
const CALLS = 2;
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
const installation = await phoneInstallation({
  TTS_PROVIDER: 'local',
  STT_PROVIDER: 'local',
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

/** The quickest of several calls: what the machine does beside them only adds. */
async function quickest(line: Line) {
  const first: number[] = [];
  const replies: number[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const toNumber = people.answering(DIGITS);
    await line.waitForEnd(await line.call({ toNumber }));
    const waits = waitsIn(people.seen(toNumber));
    expect(waits.replies).toHaveLength(DIGITS);
    first.push(waits.first);
    replies.push(...waits.replies);
  }
  return { firstMs: Math.min(...first), replyMs: Math.min(...replies) };
}

test('A database 300 ms away delays neither the first words nor a reply', { timeout: 180_000 }, async () => {
  const line = await installation().makeLine({
    trunks: [{ port: people.carrier.sipPort }],
    pathway: REPLIES_TO_DIGITS,
  });
  const near = await quickest(line);
  proxy.delayMs = DISTANCE_MS;
  const far = await quickest(line);
  proxy.delayMs = 0;
  expect(far.firstMs - near.firstMs).toBeLessThan(TOLERANCE_MS);
  expect(far.replyMs - near.replyMs).toBeLessThan(TOLERANCE_MS);
});
