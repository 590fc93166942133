import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { prepareDatabase } from '../infra/postgres/support/databases.ts';
import { startChild } from '../support/child.ts';
import { createClient, startTestGateway } from '../support/gateway.ts';
import { startPostgres } from '../support/postgres.ts';
import { type ServiceProcess, serviceCommand, startService } from '../support/processes.ts';
import { makeTempDir } from '../support/tempDir.ts';
import { startWriters } from './support/writers.ts';

const WAIT = { timeout: 20_000 };
const TIMEOUT = 180_000;

function dataFolder(): string {
  const { path, remove } = makeTempDir();
  onTestFinished(async () => {
    // Left by a killed service that a failed test never restarted.
    const redisPid = await ownRedis(path).catch(() => undefined);
    if (redisPid) process.kill(redisPid, 'SIGKILL');
    remove();
  });
  return path;
}
async function start(dataDir: string): Promise<ServiceProcess> {
  // Without calls, whose threads cost more than the rest of a start.
  const service = await startService({
    dataDir,
    env: { ROLES: 'api,worker' },
  });
  onTestFinished(() => service.close());
  return service;
}
const clientOf = (service: ServiceProcess) =>
  createClient(service.url, readFileSync(join(service.dataDir, 'admin-token'), 'utf8').trim());

/** The `redis-server` of the service's data folder. */
async function ownRedis(dataDir: string) {
  const { port, password } = JSON.parse(readFileSync(join(dataDir, 'redis', 'server.json'), 'utf8'));
  const client = new Redis(`redis://:${password}@127.0.0.1:${port}`, {
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const [, pid] = /process_id:(\d+)/.exec(await client.info('server')) ?? [];
    return Number(pid);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}

describe('kill -9', () => {
  test('loses no acknowledged write and leaves Redis to the next start, which holds the folder; a stop ends both', {
    timeout: TIMEOUT,
  }, async () => {
    const dataDir = dataFolder();
    await prepareDatabase(dataDir);
    const first = await start(dataDir);
    const project = await (await clientOf(first)).createProject();
    const writers = startWriters(first.url, project);
    await expect.poll(() => writers.acknowledged.length, WAIT).toBeGreaterThan(50);
    const redisPid = await ownRedis(dataDir);
    expect(redisPid).toBeGreaterThan(0);

    await first.kill();
    await writers.stop();
    const beganMs = performance.now();
    const second = await start(dataDir);
    console.log(`ready again on its data after ${Math.round(performance.now() - beganMs)} ms`);

    expect(writers.refused).toEqual([]);
    expect(await writers.missingFrom(second.url)).toEqual([]);
    expect(await ownRedis(dataDir)).toBe(redisPid);
    await expect(startService({ dataDir })).rejects.toThrow(
      `Callway cannot run: ${dataDir} is in use by another Callway (process ${second.pid}`,
    );
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
    expect((await second.stop()).code).toBe(0);
    expect(await ownRedis(dataDir)).toBeUndefined();
    expect(existsSync(join(dataDir, 'callway.lock'))).toBe(false);
  });
});

describe('a Postgres that crashes and restarts under load', () => {
  test('causes 503s for a while and loses no acknowledged write', { timeout: TIMEOUT }, async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.close());
    const gateway = await startTestGateway({ env: { DATABASE_URL: postgres.url } });
    onTestFinished(() => gateway.stop());
    const writers = startWriters(gateway.url, await gateway.createProject());
    const count = () => writers.acknowledged.length;
    await expect.poll(count, WAIT).toBeGreaterThan(50);

    await postgres.stop('immediate');
    await expect.poll(() => writers.refused.length, WAIT).toBeGreaterThan(10);
    await postgres.start();
    const atRestart = count();
    await expect.poll(count, WAIT).toBeGreaterThan(atRestart + 50);
    await writers.stop();

    expect(new Set(writers.refused)).toEqual(new Set([503]));
    expect(await writers.missingFrom(gateway.url)).toEqual([]);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  });
});

describe('a start', () => {
  test('with invalid settings reports all of them but no secret, and exits with 78', async () => {
    const env = {
      PORT: 'x',
      DATABASE_URL: 'mysql://x',
      REDIS_URL: 'redis+sentinel://127.0.0.1:26379',
      ROLES: 'cook',
      LEGACY_SUNSET: 'soon',
      LOG_LEVEL: 'loud',
      PUBLIC_IP: 'here',
      CHAT_PROVIDER: 'me',
      SECRETS_KEY: 'short-but-secret',
      CALLWAY_ADMIN_TOKEN: 'word',
    };
    const { code, said } = await failedStart(env);

    expect(code).toBe(78);
    for (const name of Object.keys(env)) expect(said).toMatch(new RegExp(`^ +${name}: must `, 'm'));
    expect(said).toMatch(/REDIS_URL: must end with the name of the master/);
    expect(said).toMatch(/SECRETS_KEY: must be 32 bytes/);
    expect(said).not.toContain('short-but-secret');
  });
});

/** Starts the service with settings that it must refuse. */
async function failedStart(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  const child = await startChild(process.execPath, serviceCommand(), {
    env: { PATH: process.env.PATH, DATA_DIR: dataFolder(), ...env },
  });
  const { code } = await child.ended;
  return { code, said: child.lines.join('\n') };
}
