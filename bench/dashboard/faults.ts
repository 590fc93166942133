import { setTimeout as sleep } from 'node:timers/promises';

import type { createClient } from '../../test/support/gateway.ts';
import { serveOnLoopback } from '../../test/support/loopbackServer.ts';
import { AGENT } from '../soak/agent.ts';

type Client = Awaited<ReturnType<typeof createClient>>;

/** Makes the scripted model fail. */
export const FAILS = 'Please fail.';
const PAUSE_MS = 1500;
const FORBIDDEN = '+19005550100';
const FROM = '+886223456780';

/** A project with occasional faults: refused calls, failing models, webhooks without a receiver. */
export async function startFaults(client: Client): Promise<{ stop(): Promise<void> }> {
  let told = 0;
  const receiver = await serveOnLoopback((request, response) => {
    told += 1;
    request.resume();
    response.writeHead(told % 4 === 0 ? 500 : 204).end();
  });
  const project = await client.createProject('Mishaps');
  const key = project.developerKey;
  const { path } = project;
  const made = async (method: string, url: string, body: object) => {
    const answer = await client.api(method, url, { key, body });
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status}`);
  };
  await made('PUT', `${path}/pathway`, AGENT);
  const postSessionWebhook = { url: `http://127.0.0.1:${receiver.port}/hook` };
  await made('PATCH', `${path}/agent`, { status: 'published', postSessionWebhook });
  await made('POST', `${path}/trunks`, {
    name: 'Nobody',
    host: '127.0.0.1',
    port: 9,
    optionsIntervalSeconds: 5,
    register: true,
    username: 'nobody',
    password: 'nothing',
  });
  await made('POST', `${path}/phone-numbers`, { number: FROM });
  await client.api('PATCH', path, { body: { callLimits: { blockedPrefixes: ['+1900'] } } });

  let isStopping = false;
  const round = async (number: number) => {
    const say = (content: string) =>
      client.api('POST', `${path}/chat/completions`, {
        key,
        headers: { 'x-session-id': `mishap-${number}` },
        body: { messages: [{ role: 'user', content }] },
      });
    await say('Good day.');
    if (number % 3 === 0) await say(FAILS);
    await client.api('DELETE', `${path}/sessions`, { key, body: { session_id: `mishap-${number}` } });
    const order = { projectId: project.id, fromNumber: FROM, toNumber: FORBIDDEN };
    await client.api('POST', '/v1/calls/outbound', { key, body: order });
    await sleep(PAUSE_MS);
  };
  const everything = (async () => {
    for (let number = 0; !isStopping; number += 1) await round(number);
  })();
  everything.catch(() => undefined); // `stop` rethrows it
  return {
    async stop() {
      isStopping = true;
      await everything.finally(() => receiver.close());
    },
  };
}
