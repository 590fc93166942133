import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { prepareDatabase } from '../infra/postgres/support/databases.ts';
import { createClient, type TestProject } from '../support/gateway.ts';
import { type ServiceProcess, startService } from '../support/processes.ts';
import { makeTempDir } from '../support/tempDir.ts';
import { type Carrier, OUTCOMES, type Reaction, startCarrier } from './support/carrier.ts';

const TIMEOUT = 300_000;
const REACTIONS: readonly Reaction[] = ['answer', 'busy', 'no_answer', 'declined', 'unknown', 'broken'];
const CONTACTS = 60;

const folder = makeTempDir();
const env = { CHAT_PROVIDER: 'local', STT_PROVIDER: 'local', TTS_PROVIDER: 'local', MEDIA_WORKERS: '1' };
const reactionOf = (number: string) => REACTIONS[Number(number.slice(-2)) % REACTIONS.length] ?? 'answer';
let carrier: Carrier;
let service: ServiceProcess | undefined;
beforeAll(async () => {
  await prepareDatabase(folder.path);
  carrier = await startCarrier({ reactionOf });
});
afterAll(async () => {
  await service?.stop();
  carrier.close();
  folder.remove();
});

async function start() {
  service = await startService({ dataDir: folder.path, env });
  const client = await createClient(
    service.url,
    readFileSync(join(folder.path, 'admin-token'), 'utf8').trim(),
  );
  const send = (project: TestProject, method: string, path: string, body?: object) =>
    client.api(method, `${project.path}${path}`, { key: project.developerKey, body });
  return { client, send };
}

test('A campaign calls each contact once over real SIP, though its node is killed and it is paused on the way', {
  timeout: TIMEOUT,
}, async () => {
  const first = await start();
  const project = await first.client.createProject();
  await first.client.api('PATCH', project.path, { body: { callingHours: null } });
  const trunk = {
    name: 't',
    host: '127.0.0.1',
    port: carrier.port,
    codecs: ['PCMU'],
    optionsIntervalSeconds: 0,
  };
  const { body: made } = await first.send(project, 'POST', '/trunks', {
    ...trunk,
    maxChannels: 20,
    callsPerSecond: 50,
  });
  await first.send(project, 'POST', '/phone-numbers', { number: '+886223456789', trunkIds: [made.id] });
  const { body: campaign } = await first.send(project, 'POST', '/campaigns', {
    name: 'Survey',
    fromNumbers: ['+886223456789'],
    pacing: { maxConcurrent: 10, callsPerMinute: 600 },
    retry: { rules: [] },
    pauseWhen: null,
  });
  const path = `/campaigns/${campaign.id}`;
  const contacts = Array.from({ length: CONTACTS }, (_, n) => ({
    toNumber: `09123456${String(n).padStart(2, '0')}`,
  }));
  await first.send(project, 'POST', `${path}/contacts`, { contacts });
  await first.send(project, 'POST', `${path}/start`);
  await expect.poll(() => carrier.invites.length, { timeout: 60_000 }).toBeGreaterThan(10);

  expect((await first.send(project, 'POST', `${path}/pause`)).body.status).toBe('paused');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const paused = carrier.invites.length;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(carrier.invites.length).toBe(paused);
  await first.send(project, 'POST', `${path}/resume`);
  await expect.poll(() => carrier.invites.length, { timeout: 60_000 }).toBeGreaterThan(paused + 10);
  await service?.kill();

  const second = await start();
  const state = async () => (await second.send(project, 'GET', path)).body.status;
  await expect.poll(state, { timeout: 200_000, interval: 1_000 }).toBe('completed');
  const called = new Set(carrier.invites.map(({ number }) => number));
  expect(called.size).toBe(carrier.invites.length);
  const { body: list } = await second.send(project, 'GET', `${path}/contacts?limit=200`);
  expect(list.data).toHaveLength(CONTACTS);
  for (const { toNumber, status, outcome, attempts } of list.data) {
    expect([status, attempts.length]).toEqual(['done', 1]);
    // A call that the kill has cut off has failed, whether its INVITE was out or not.
    if (attempts[0].endReason === 'node_lost') expect(outcome).toBe('failed');
    else expect([toNumber, outcome]).toEqual([toNumber, OUTCOMES[reactionOf(toNumber)]]);
    if (attempts[0].endReason !== 'node_lost')
      expect([...called].some((one) => toNumber.endsWith(one.slice(-9)))).toBe(true);
  }
});

test('A rehearsal plays what the seed says with each contact to its end, and places no call', {
  timeout: TIMEOUT,
}, async () => {
  const before = carrier.invites.length;
  await service?.stop();
  const { client, send } = await start();
  const project = await client.createProject();
  const disclosures = [{ id: 'who', text: 'This is a computer.', withinSeconds: 60, direction: 'outbound' }];
  await send(project, 'PATCH', '/agent', { disclosures });
  await send(project, 'POST', '/phone-numbers', { number: '+886223456780', trunkIds: [] });
  const { body: campaign } = await send(project, 'POST', '/campaigns', { name: 'Rehearsed' });
  const path = `/campaigns/${campaign.id}`;
  const contacts = Array.from({ length: 4 }, (_, n) => ({ toNumber: `+88691234560${n}` }));
  await send(project, 'POST', `${path}/contacts`, { contacts });
  const { status, body: started } = await send(project, 'POST', `${path}/rehearse`, { contacts: 4, seed: 3 });
  expect(status).toBe(202);
  const run = async () => (await send(project, 'GET', `/test-runs/${started.data.id}`)).body.data;
  await expect
    .poll(async () => (await run()).endedAt, { timeout: 200_000, interval: 1_000 })
    .toEqual(expect.any(String));
  const { cases } = await run();
  expect(cases.map(({ status }: { status: string }) => status)).toEqual(contacts.map(() => 'passed'));
  const outcomes = cases.map(({ outcome }: { outcome: string }) => outcome);
  expect(outcomes).toEqual(['answered', 'busy', 'no_answer', 'answered']);
  expect((await send(project, 'GET', path)).body.counts).toMatchObject({ total: 4, pending: 4 });
  expect(carrier.invites).toHaveLength(before);
});
