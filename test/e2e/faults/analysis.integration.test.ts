import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { openPostgres } from '../../../src/infra/postgres/connection/postgres.ts';
import { type ApiAnswer, createClient, type TestProject } from '../../support/gateway.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { type ServiceProcess, startService } from '../../support/processes.ts';
import { redisDatabase } from '../../support/redis.ts';
import { type ScriptedUpstream, saying, startScriptedUpstream } from '../../support/scriptedUpstream.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { requiresAllFaults } from './support/table.ts';

const TIMEOUT = 240_000;
const WAIT = { timeout: 200_000, interval: 250 };
const SESSIONS = 1_000;
/** Sessions of one project that a node analyzes at once. */
const AT_ONCE = 20;

const closers: (() => Promise<unknown>)[] = [];
/** How often the model was asked about each session, by the words said in it, and at once at most. */
const asked = new Map<string, number>();
let [running, most] = [0, 0];
let upstream: ScriptedUpstream;
let service: ServiceProcess;
let start: () => Promise<string>;
let api: (method: string, path: string, body?: object) => Promise<ApiAnswer>;

async function insertSessions(url: string, projectId: string): Promise<void> {
  const database = openPostgres({ url, onIdleError: () => undefined });
  await database.query(
    `WITH added AS (
       INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at, ended_at)
       SELECT gen_random_uuid(), $1, 'session-' || n, 'chat', 'ended', now() - interval '1 hour', now()
       FROM generate_series(1, ${SESSIONS}) AS n RETURNING instance_id, session_id
     )
     INSERT INTO session_messages (instance_id, project_id, message, text)
     SELECT instance_id, $1, json_build_object('role', 'assistant', 'content', session_id, 'at', now()), session_id
     FROM added`,
    [projectId],
  );
  await database.close();
}

describe('a job', { ...requiresAllFaults, timeout: TIMEOUT }, () => {
  beforeAll(async () => {
    const folder = makeTempDir();
    const [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
    closers.push(async () => folder.remove(), database.drop, redis.drop);
    upstream = await startScriptedUpstream(async ({ messages }) => {
      const [word = ''] = /session-\d+/.exec(JSON.stringify(messages)) ?? [];
      asked.set(word, (asked.get(word) ?? 0) + 1);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 50));
      running -= 1;
      return { steps: saying(JSON.stringify({ summary: word, disposition: 'booked' })) };
    });
    closers.push(() => upstream.close());
    const token = randomBytes(24).toString('hex');
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      CALLWAY_ADMIN_TOKEN: token,
      OPENAI_BASE_URL: upstream.baseUrl,
      OPENAI_API_KEY: 'k',
      MEDIA_WORKERS: '1',
    };
    let project: TestProject | undefined;
    start = async () => {
      service = await startService({ env, dataDir: folder.path });
      closers.push(service.close);
      const client = await createClient(service.url, token);
      project ??= await client.createProject();
      const { path, developerKey: key } = project;
      api = (method, route, body) => client.api(method, path + route, { key, ...(body ? { body } : {}) });
      return project.id;
    };
    const projectId = await start();
    const dispositions = [{ value: 'booked', description: 'They booked.', success: true }];
    expect((await api('PATCH', '/agent', { analysis: { dispositions } })).status).toBe(200);
    await insertSessions(database.url, projectId);
  }, TIMEOUT);
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  test('analyzes each of 1,000 sessions once, 20 at once, also where its node is killed', async () => {
    const from = new Date(Date.now() - 2 * 3_600_000).toISOString();
    const { body, status } = await api('POST', '/session-history/analyze', { from });
    expect(status).toBe(202);
    const progress = async () => (await api('GET', `/analysis-jobs/${body.jobId}`)).body;
    await vi.waitFor(async () => expect((await progress()).done).toBeGreaterThan(SESSIONS / 4), WAIT);
    expect((await progress()).status).toBe('running');
    await service.kill();
    expect(asked.size).toBeLessThan(SESSIONS);
    await start();
    await vi.waitFor(async () => expect((await progress()).status).toBe('done'), WAIT);
    expect(await progress()).toMatchObject({ total: SESSIONS, done: SESSIONS, failed: 0 });
    // What was in progress at the kill is asked for once more.
    expect(asked.size).toBe(SESSIONS);
    expect([...asked.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(AT_ONCE);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(AT_ONCE);
    const listed = await api('GET', '/session-history?disposition=booked&success=true&limit=1');
    expect(listed.body.pagination.total).toBe(SESSIONS);
  });
});
