import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/app/gateway.ts';
import { maxCalls } from '../../src/app/media/media.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { connectRedis, type RedisConnection } from '../../src/infra/redis/connection/connection.ts';
import { redisVoiceNodes } from '../../src/infra/redis/nodes/leasedEntries.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { detectLeaks } from '../support/leaks.ts';
import { reservePort } from '../support/ports.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { redisDatabase } from '../support/redis.ts';
import { makeTempDir } from '../support/tempDir.ts';

let assertNoLeaks: () => Promise<void>;
let shared: Record<string, string>;
let redis: RedisConnection;
const closers: (() => unknown)[] = [];
beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  const [database, redisOfTest] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  redis = connectRedis({ url: redisOfTest.url, onError: () => undefined });
  await redis.untilReady();
  closers.push(database.drop, redisOfTest.drop, () => redis.close());
  shared = {
    DATABASE_URL: database.url,
    REDIS_URL: redisOfTest.url,
    CALLWAY_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'silent',
    PORT: '0',
  };
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await assertNoLeaks();
});

async function start(env: Record<string, string>): Promise<Gateway> {
  const folder = makeTempDir();
  const sipPort = String(await reservePort());
  const config = loadConfig({
    ...shared,
    DATA_DIR: folder.path,
    SIP_PORT: sipPort,
    MEDIA_WORKERS: '1',
    ...env,
  });
  const gateway = await startGateway(config, createLogger('silent'));
  return {
    ...gateway,
    async stop() {
      await gateway.stop();
      folder.remove();
    },
  };
}

const PATHS = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/v1/projects',
  '/v1/media-streams/ticket',
];

test.each([
  ['api', [200, 200, 200, 200, 200, 400], ['database', 'redis']],
  ['worker', [200, 200, 200, 404, 404, 404], ['database', 'redis']],
  ['voice', [200, 200, 200, 404, 404, 400], ['database', 'redis']],
  // It depends on a voice node, and there is none.
  ['media', [200, 503, 200, 404, 404, 400], ['database', 'redis', 'sip', 'voice']],
])('a node with the role %s serves only its own routes', async (role, statuses, dependencies) => {
  const { url, stop } = await start({ ROLES: role });
  try {
    const headers = { authorization: `Bearer ${shared.CALLWAY_ADMIN_TOKEN}` };
    const answers = await Promise.all(
      PATHS.map(async (path) => {
        const answer = await fetch(url + path, { headers });
        // Read completely: otherwise the connection stays open.
        return { status: answer.status, text: await answer.text() };
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    const readiness = JSON.parse(answers[1]?.text ?? '') as { dependencies: object };
    expect(Object.keys(readiness.dependencies).sort()).toEqual(dependencies);
  } finally {
    await stop();
  }
});

test('a voice thread is registered with its address, or that of its node, until it stops', async () => {
  const nodes = redisVoiceNodes(redis);
  const named = await start({ ROLES: 'voice', NODE_URL: 'http://10.1.2.3:3000/' });
  expect(await nodes.list()).toMatchObject([{ url: 'http://10.1.2.3:3000', sessions: 0 }]);
  await named.stop();
  expect(await nodes.list()).toEqual([]);
  const unnamed = await start({ ROLES: 'voice' });
  expect(await nodes.list()).toMatchObject([
    { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), sessions: 0 },
  ]);
  await unnamed.stop();
});

test.each([
  [{ RTP_PORT_MIN: '30000', RTP_PORT_MAX: '30019', MEDIA_WORKERS: '2' }, 10],
  [{ MEDIA_WORKERS: '2' }, 400],
  [{ MEDIA_WORKERS: '2', MAX_CALLS_PER_NODE: '7' }, 7],
])('a node with %o has this call capacity', (env, calls) => {
  expect(maxCalls(loadConfig(env))).toBe(calls);
});
