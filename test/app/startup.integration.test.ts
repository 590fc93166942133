import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { cli } from '../cli/support.ts';
import { startChild } from '../support/child.ts';
import { startTestGateway } from '../support/gateway.ts';
import { reservePort } from '../support/ports.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { serviceCommand } from '../support/processes.ts';
import { saying, startScriptedUpstream } from '../support/scriptedUpstream.ts';
import { tempDir } from '../support/tempDir.ts';

/** As the migrations take it. */
const MIGRATION_LOCK = '7223104551';

async function emptyDatabase() {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  return url;
}

test('A node is alive and not ready while the database is migrated', async () => {
  const url = await emptyDatabase();
  const otherNode = new pg.Client({ connectionString: url });
  await otherNode.connect();
  await otherNode.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);

  const port = await reservePort();
  const starting = startTestGateway({ env: { PORT: String(port), DATABASE_URL: url } });
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    return response && { status: response.status, body: await response.json() };
  };
  await expect
    .poll(() => ask('/readyz'), { timeout: 60_000 })
    .toEqual({ status: 503, body: { status: 'migrating', dependencies: {}, providers: {} } });
  expect(await ask('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
  expect(await ask('/v1/projects')).toMatchObject({ status: 503, body: { code: 'node_migrating' } });

  await otherNode.end();
  const gateway = await starting;
  onTestFinished(() => gateway.stop());
  expect(await ask('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
});

test('A stop ends a start that waits for the migration of another node', async () => {
  const url = await emptyDatabase();
  const otherNode = new pg.Client({ connectionString: url });
  await otherNode.connect();
  onTestFinished(() => otherNode.end());
  await otherNode.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
  const settings = { PORT: '0', ROLES: 'api', DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:1' };
  const folder = tempDir();
  const node = await startChild(process.execPath, serviceCommand(), { cwd: folder, env: settings });
  const says = (text: string) => vi.waitFor(() => expect(node.lines.join()).toContain(text), 90_000);

  await says('database migration waiting');
  node.kill('SIGTERM');
  await says('"msg":"stopped"');
  expect(await node.ended).toEqual({ code: 0, signal: null });
});

test('callway migrate prepares the database for the nodes', async () => {
  const DATABASE_URL = await emptyDatabase();
  expect(await cli(['migrate'], { DATABASE_URL })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Migrating: schema\n[\s\S]*Applied \d+ migrations\.\n$/),
  });
  expect(await cli(['migrate'], { DATABASE_URL })).toMatchObject({ out: 'The database is up to date.\n' });
  expect(await cli(['migrate'], {})).toMatchObject({
    code: 64,
    err: expect.stringContaining('DATABASE_URL'),
  });
});

test('A database of an unreleased build is refused in one sentence by callway migrate, doctor and the start', async () => {
  const DATABASE_URL = await emptyDatabase();
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  await client.query(
    `CREATE TABLE schema_migrations (version int PRIMARY KEY, name text, checksum text, applied_at timestamptz);
     INSERT INTO schema_migrations VALUES (1, 'foundation', 'other', now())`,
  );
  const sentence = /unreleased build of Callway, which alone can use it: set DATABASE_URL/;
  expect(await cli(['migrate'], { DATABASE_URL })).toMatchObject({
    code: 78,
    err: expect.stringMatching(sentence),
  });
  expect(await cli(['doctor'], { DATABASE_URL })).toMatchObject({
    out: expect.stringMatching(/FAIL +migrations +were run by an unreleased build/),
  });
  await expect(startTestGateway({ env: { DATABASE_URL } })).rejects.toThrow(sentence);
  const { rows } = await client.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`);
  expect(rows).toEqual([{ name: 'schema_migrations' }]);
  await client.end();
});

test('A start with a model that has ended works and names the setting; an agent’s model is named when it is asked', async () => {
  const upstream = await startScriptedUpstream({ steps: saying('Hello.') });
  onTestFinished(upstream.close);
  const lines: { msg: string; setting?: string; model?: string; ends?: string }[] = [];
  const gateway = await startTestGateway({
    env: {
      OPENAI_BASE_URL: upstream.baseUrl,
      CHAT_MODEL_TURBO: 'gpt-4.1-nano',
      STT_MODEL: 'own-recognizer',
      TTS_MODEL: 'own-voice',
    },
    onLogLine: (line) => void lines.push(JSON.parse(line)),
  });
  onTestFinished(() => gateway.stop());
  const warnings = () => lines.filter(({ ends }) => ends !== undefined);
  expect(warnings()).toMatchObject([
    { level: 40, setting: 'CHAT_MODEL_TURBO', model: 'gpt-4.1-nano', ends: '2026-10-23' },
  ]);
  const { path, developerKey } = await gateway.createProject();
  const agent = { name: 'Ann', chat: { model: 'gpt-3.5-turbo' } };
  await gateway.api('PUT', `${path}/agent`, { key: developerKey, body: agent });
  for (const content of ['Hi', 'Hi again'])
    await gateway.api('POST', `${path}/chat/completions`, {
      key: developerKey,
      headers: { 'x-agent-version': 'draft' },
      body: { messages: [{ role: 'user', content }] },
    });
  expect(upstream.requests.at(-1)?.body.model).toBe('gpt-3.5-turbo');
  expect(warnings().slice(1)).toMatchObject([
    { setting: 'the agent’s chat', model: 'gpt-3.5-turbo', ends: '2026-10-23' },
  ]);
});
