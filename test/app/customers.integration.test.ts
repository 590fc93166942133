import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSealer } from '../../src/base/sealer.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import type { Call } from '../../src/calls/call.ts';
import type { Database } from '../../src/infra/postgres/connection/database.ts';
import { openPostgres } from '../../src/infra/postgres/connection/postgres.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { makeCall } from '../infra/postgres/support/calls.ts';
import { user } from '../infra/postgres/support/sessions.ts';
import { startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import { serveOnLoopback } from '../support/loopbackServer.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { redisDatabase } from '../support/redis.ts';
import { saying, startScriptedUpstream } from '../support/scriptedUpstream.ts';

/** Nothing else contains these. */
const WORDS = 'aubergine-mauve-7731';
const OTHER_WORDS = 'tangerine-teal-9902';
const NUMBER = '+886955443322';
const CUSTOMER_ID = 'member-5b1e-77';

const SHARED = {
  CALLWAY_ADMIN_TOKEN: randomBytes(24).toString('hex'),
  SECRETS_KEY: randomBytes(32).toString('base64'),
  ALLOW_INSECURE_WEBHOOKS: 'true',
};

const closers: (() => Promise<unknown>)[] = [];
/** Two nodes of one installation. */
let nodes: [TestGateway, TestGateway];
let database: Database;
let redis: Redis;
let storage: ReturnType<typeof createStorage>;
let hookUrl: string;

beforeAll(async () => {
  const postgres = await createTestDatabase('newest');
  closers.push(postgres.drop);
  const keys = await redisDatabase();
  closers.push(keys.drop);
  // The model repeats what it was told last.
  const upstream = await startScriptedUpstream((body) => ({
    steps: saying(`You said ${JSON.stringify(body.messages).includes(WORDS) ? WORDS : OTHER_WORDS}`),
  }));
  closers.push(upstream.close);
  const hook = await serveOnLoopback((_request, response) => response.writeHead(204).end());
  closers.push(hook.close);
  hookUrl = `http://127.0.0.1:${hook.port}/hook`;
  const env = {
    ...SHARED,
    DATABASE_URL: postgres.url,
    REDIS_URL: keys.url,
    OPENAI_BASE_URL: upstream.baseUrl,
  };
  const start = async () => {
    const gateway = await startTestGateway({ env });
    closers.push(gateway.stop);
    return gateway;
  };
  nodes = [await start(), await start()];
  database = openPostgres({ url: postgres.url, onIdleError: () => undefined });
  closers.push(() => database.close());
  storage = createStorage(database, createSealer(Buffer.from(SHARED.SECRETS_KEY, 'base64')));
  redis = new Redis(keys.url);
  closers.push(async () => redis.disconnect());
}, 120_000);
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** A project whose agent remembers, and reports to a webhook. */
async function createProject(): Promise<TestProject> {
  const project = await nodes[0].createProject();
  const { status } = await nodes[0].api('PATCH', `${project.path}/agent`, {
    key: project.developerKey,
    body: { memoryEnabled: true, postSessionWebhook: { url: hookUrl, events: ['session.finalized'] } },
  });
  expect(status).toBe(200);
  return project;
}

/** A chat of a customer that says the words; ended, or live. */
async function chat(
  project: TestProject,
  customerId: string,
  words: string,
  isEnded = true,
): Promise<string> {
  const sessionId = `chat ${uuidV7()}`;
  const send = (method: string, path: string, body: object) =>
    nodes[0].api(method, project.path + path, {
      key: project.secretKey,
      body,
      headers: { 'idempotency-key': `${path}-${words}-${sessionId.slice(5)}` },
    });
  await send('POST', '/sessions', { session_id: sessionId, variables: { customerId: ` ${customerId}` } });
  const messages = [{ role: 'user', content: `I like ${words}` }];
  const answer = await send('POST', '/chat/completions', { session_id: sessionId, messages });
  expect(answer.status).toBe(200);
  if (isEnded) await send('DELETE', '/sessions', { session_id: sessionId });
  return sessionId;
}

/** A call of a number that says the words, with everything that a call leaves behind. */
async function call(project: TestProject, words: string, change: Partial<Call> = {}): Promise<Call> {
  const { projectId, releaseId } = await releaseOf(project);
  const world = { projectId, releaseId, release: { pathwayId: uuidV7() } } as Parameters<typeof makeCall>[0];
  const id = uuidV7();
  const over = { status: 'completed', answeredAt: iso(0), endedAt: iso(0) } as const;
  const recording = { status: 'ready', key: `${projectId}/${id}.wav`, durationMs: 1, error: null } as const;
  const made = makeCall(world, { id, createdAt: iso(0), toNumber: NUMBER, ...over, recording, ...change });
  const { calls, sessions, sipTraces } = storage.stores;
  const metadata = { note: words };
  await calls.insert({ ...made.call, metadata }, { ...made.session, startedAt: iso(0) }, made.started);
  const said = [user(`Please ${words}`)];
  const state = { ...made.session.state, messages: said };
  await sessions.saveTurn({ ...made.session, turn: 1, state }, { messages: said, events: [] });
  await sipTraces.append(projectId, id, [
    { at: iso(0), direction: 'in', transport: 'udp', remote: 'a:1', text: `INVITE ${words}` },
  ]);
  return made.call;
}

async function releaseOf({ id }: TestProject) {
  const [row] = await database.query<{ id: string }>('SELECT id FROM agent_releases WHERE project_id = $1', [
    id,
  ]);
  return { projectId: id, releaseId: row?.id ?? '' };
}

const settle = ({ id }: Call) =>
  database.query(`UPDATE calls SET status = 'completed', ended_at = now(), settled = true WHERE id = $1`, [
    id,
  ]);

const iso = (ms: number) => new Date(Date.parse('2026-01-01T12:00:00.000Z') + ms).toISOString();

const customers = (project: TestProject, key: string) =>
  `${project.path}/customers/${encodeURIComponent(key)}`;

/** Every row of every table that contains the text. */
async function rowsWith(text: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(30);
  const rows = await Promise.all(
    tables.map(({ name }) =>
      database.query<{ row: string }>(
        `SELECT '${name} ' || to_jsonb(kept)::text AS row FROM ${name} AS kept
         WHERE strpos(to_jsonb(kept)::text, $1) > 0`,
        [text],
      ),
    ),
  );
  return rows.flat().map(({ row }) => row);
}

/** Every file of both data folders that contains the text. */
function filesWith(text: string): string[] {
  return nodes.flatMap(({ dataDir }) =>
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => readFileSync(path).includes(text)),
  );
}

async function redisKeysWith(text: string): Promise<string[]> {
  const keys = await redis.keys('*');
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return keys.filter((key, index) => key.includes(text) || dumps[index]?.includes(text));
}

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

test('Erasing a person leaves their words in no table, no file and no key, on any node', async () => {
  const project = await createProject();
  const other = await createProject();
  const { developerKey: key } = project;
  const live = await chat(project, CUSTOMER_ID, WORDS, false);
  const ended = await chat(project, CUSTOMER_ID, WORDS);
  await chat(project, 'somebody else', OTHER_WORDS);
  await chat(other, CUSTOMER_ID, OTHER_WORDS);
  // The webhooks, and what was learnt, follow the end.
  const path = customers(project, CUSTOMER_ID);
  await expect
    .poll(async () => (await nodes[0].api('GET', path, { key })).body.memory?.text)
    .toContain(WORDS);
  const finalized = () =>
    database.query(`SELECT FROM webhook_deliveries WHERE session_id = $1 AND event = 'session.finalized'`, [
      ended,
    ]);
  await expect.poll(finalized).toHaveLength(1);

  const called = await call(project, WORDS);
  await settle(called);
  await storage.stores.memory.keep(project.id, `phone:${NUMBER}`, WORDS, called.instanceId);
  const [, eraser] = nodes;
  const files = [
    `recordings/${project.id}/${called.id}.wav`,
    `recordings-in-progress/${called.id}.wav`,
    `waiting-turns/${called.instanceId}.jsonl`,
  ].map((name) => write(join(eraser.dataDir, name), `RIFF ${WORDS}`));
  await redis.set(`callway:turn-note:${called.instanceId}`, WORDS);

  const kept = await nodes[0].api('GET', path, { key });
  expect(kept.body).toMatchObject({
    key: CUSTOMER_ID,
    sessions: { total: 2, ids: [ended, live] },
    calls: { total: 0, ids: [] },
    recordings: { total: 0, ids: [] },
  });
  const numberPath = customers(project, NUMBER);
  const keptOfNumber = (await nodes[0].api('GET', numberPath, { key })).body;
  expect(keptOfNumber).toMatchObject({
    memory: { text: WORDS },
    sessions: { total: 1, ids: [called.sessionId] },
    calls: { total: 1, ids: [called.id] },
    recordings: { total: 1, ids: [called.id] },
  });
  const copied = await nodes[0].api('POST', `${project.path}/test-cases/from-session`, {
    key,
    body: { sessionId: called.sessionId, name: `${NUMBER} likes ${WORDS}`, mask: false },
    headers: { 'idempotency-key': `case-of-${NUMBER}` },
  });
  expect(copied.status).toBe(201);
  const stored = (await rowsWith(WORDS)).filter((row) => row.startsWith('idempotency_keys'));
  expect(stored).toHaveLength(3);

  for (const name of [path, numberPath, path])
    expect((await eraser.api('DELETE', name, { key })).status).toBe(204);

  for (const text of [WORDS, CUSTOMER_ID, NUMBER]) {
    const rows = await rowsWith(text);
    expect(rows.filter((row) => !row.includes(other.id))).toEqual([]);
    expect(filesWith(text)).toEqual([]);
    expect(await redisKeysWith(text)).toEqual([]);
  }
  expect(files.filter((file) => existsSync(file))).toEqual([]);
  expect(await rowsWith(OTHER_WORDS)).not.toEqual([]);
  for (const name of [path, numberPath]) {
    expect((await nodes[0].api('GET', name, { key })).body).toMatchObject({ code: 'customer_not_found' });
  }
  const found = await nodes[0].api('GET', customers(other, CUSTOMER_ID), { key: other.developerKey });
  expect(found.body.sessions.total).toBe(1);

  const log = await nodes[0].api('GET', `${project.path}/audit-log`);
  const erased = log.body.data.filter(({ action }: { action: string }) => action === 'customer.erased');
  expect(erased).toMatchObject([
    { target: kept.body.keyHash, details: { sessions: 0, calls: 0, recordings: 0 } },
    { target: keptOfNumber.keyHash, details: { sessions: 1, calls: 1, recordings: 1 } },
    { target: kept.body.keyHash, actor: { kind: 'developer' }, details: { sessions: 2, calls: 0 } },
  ]);
}, 60_000);

test('Erasing a person by id erases their calls, and what these taught the agent', async () => {
  const project = await createProject();
  const { developerKey: key } = project;
  await chat(project, 'x', OTHER_WORDS);
  const words = 'parsnip-ochre-5518';
  const called = await call(project, words);
  await storage.stores.sessions.end(project.id, called.sessionId, async () => ({
    at: iso(1),
    missingVariables: [],
    language: null,
    reason: 'call_ended',
    finalizeBy: iso(2),
    expected: [],
    subscribed: [],
    evaluating: false,
    skippedAnalysis: null,
    readsMessages: false,
  }));
  await database.query(
    `UPDATE session_history SET variables = '{"customerId": 4711}' WHERE instance_id = $1`,
    [called.instanceId],
  );
  await settle(called);
  await storage.stores.memory.keep(project.id, `phone:${NUMBER}`, words, called.instanceId);
  for (const id of ['\0', 'x'.repeat(256)])
    expect((await nodes[0].api('DELETE', customers(project, id), { key })).status).toBe(400);
  expect((await nodes[0].api('DELETE', customers(project, '4711'), { key })).status).toBe(204);
  expect(await rowsWith(words)).toEqual([]);
});
