import { spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, onTestFinished, test } from 'vitest';

import { startChild, waitUntilReady } from '../support/child.ts';
import { reservePort } from '../support/ports.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { redisDatabase } from '../support/redis.ts';
import { requires } from '../support/skips.ts';
import { tempDir } from '../support/tempDir.ts';

const USER = 1000;
const repository = fileURLToPath(new URL('../..', import.meta.url));
const CONFINED = [
  `--reuid=${USER}`,
  `--regid=${USER}`,
  '--clear-groups',
  '--bounding-set=-all',
  '--inh-caps=-all',
  '--no-new-privs',
];
const readsFolder =
  spawnSync('setpriv', [...CONFINED, 'test', '-x', resolve(repository, 'src')]).status === 0;
const canConfine = requires(readsFolder, 'needs root, setpriv, and a folder that user 1000 can read');

/** A node as its pod runs it: as user 1000 without capabilities, with metrics on a port of their own. */
async function startNode(settings: Record<string, string>) {
  const [port, metricsPort, sipPort] = await Promise.all([reservePort(), reservePort(), reservePort()]);
  const dataDir = tempDir();
  chownSync(dataDir, USER, USER);
  const env = {
    PATH: process.env.PATH ?? '',
    ...settings,
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    SIP_PORT: String(sipPort),
    DATA_DIR: dataDir,
  };
  const args = [...CONFINED, process.execPath, resolve(repository, inject('serviceEntry'))];
  const child = await startChild('setpriv', args, { cwd: dataDir, env });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await child.ended;
  });
  const ask = (from: number, path: string) =>
    fetch(`http://127.0.0.1:${from}${path}`).then(
      async (answer) => ({ status: answer.status, text: await answer.text() }),
      (error: Error) => ({ status: 0, text: `${error.message}: ${String(error.cause)}` }),
    );
  return {
    child,
    untilReady: () =>
      waitUntilReady('The node', child, async () => (await ask(port, '/readyz')).status === 200, 60_000),
    page: (path: string) => ask(port, path),
    metrics: () => ask(metricsPort, '/metrics'),
  };
}

test('A node with all roles runs as user 1000 without capabilities, as its roles do in their pods', {
  timeout: 150_000,
  ...canConfine,
}, async () => {
  const [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  onTestFinished(async () => {
    await Promise.all([database.drop(), redis.drop()]);
  });
  const node = await startNode({
    ROLES: 'api,worker,voice,media',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: Buffer.alloc(32, 5).toString('base64'),
    CALLWAY_ADMIN_TOKEN: 'the-token-of-the-operator',
  });
  await node.untilReady();
  expect((await node.page('/metrics')).status).toBe(404);
  expect(await node.metrics()).toMatchObject({
    status: 200,
    text: expect.stringContaining('callway_dependency_up{dependency="database"} 1'),
  });
  node.child.kill('SIGTERM');
  expect(await node.child.ended).toEqual({ code: 0, signal: null });
});
