import { rmSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';

import { startChild } from '../../../support/child.ts';
import { tempDir } from '../../../support/tempDir.ts';

const OWNER = new URL('../../../support/fixtures/redisOwner.ts', import.meta.url).pathname;
const ORPHAN_SECONDS = 5;
const WAIT_MS = 60_000;

async function startOwner(folder: string, orphanSeconds = ORPHAN_SECONDS) {
  const args = ['--import', 'tsx', OWNER, folder, String(orphanSeconds)];
  const child = await startChild(process.execPath, args, {});
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await child.ended;
  });
  const find = (pattern: RegExp) => child.lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])[0];
  await expect.poll(() => find(/^ready (.*)/), { timeout: WAIT_MS }).toBeDefined();
  return { child, url: find(/^ready (.*)/) ?? '', event: find(/"event":"(\w+)"/) };
}

async function isRunning(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

test('A server whose owner was killed ends by itself', async () => {
  const { child, url } = await startOwner(tempDir());
  child.kill('SIGKILL');
  await child.ended;
  expect(await isRunning(url)).toBe(true);
  await expect.poll(() => isRunning(url), { timeout: WAIT_MS, interval: 200 }).toBe(false);
});

test('A server whose owner was killed and whose folder was removed ends at once', async () => {
  const folder = tempDir();
  const { child, url } = await startOwner(folder, WAIT_MS);
  child.kill('SIGKILL');
  await child.ended;
  rmSync(folder, { recursive: true });
  await expect.poll(() => isRunning(url), { timeout: WAIT_MS, interval: 200 }).toBe(false);
});

test('A server that a new owner adopts outlives the first watch, and is watched again', async () => {
  const folder = tempDir();
  const first = await startOwner(folder);
  first.child.kill('SIGKILL');
  await first.child.ended;
  const second = await startOwner(folder);
  expect(second).toMatchObject({ url: first.url, event: 'adopted' });
  await new Promise((resolve) => setTimeout(resolve, (ORPHAN_SECONDS + 2) * 1000));
  expect(await isRunning(second.url)).toBe(true);
  second.child.kill('SIGKILL');
  await second.child.ended;
  await expect.poll(() => isRunning(second.url), { timeout: WAIT_MS, interval: 200 }).toBe(false);
});

test('A server is stopped with its owner, and with its watcher', async () => {
  const { child, url } = await startOwner(tempDir());
  child.kill('SIGTERM');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect(await isRunning(url)).toBe(false);
});
