import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { type Child, startChild, waitUntilReady } from './child.ts';
import { reservePort } from './ports.ts';
import { makeTempDir } from './tempDir.ts';

const READY_TIMEOUT_MS = 15_000;

/** Enough for every test file. */
const DATABASES = 1024;

/** Keys of database 0 that mark used databases; they expire after the longest run. */
const OWNER_KEY_PREFIX = 'callway:test:owner:';
const OWNER_SECONDS = 3600;

/** A Redis server that a test owns; append-only with `fsync` every second, like the embedded one. */
export interface RedisServer {
  readonly url: string;
  readonly pid: () => number;
  /** Stops it with SIGTERM or SIGKILL. Does nothing when it is not running. */
  stop(how?: 'ordinary' | 'kill9'): Promise<void>;
  /** Restarts it on the same port and data. */
  start(): Promise<void>;
  /** Sends SIGSTOP: its connections stay open and get no answer. */
  pause(): void;
  resume(): void;
  /** Stops it and removes its data; idempotent. */
  close(): Promise<void>;
}

/** The Redis database of one test file. */
export interface RedisDatabase {
  /** With the database number: `redis://127.0.0.1:PORT/7`. */
  readonly url: string;
  /** Empties it and releases it. */
  drop(): Promise<void>;
}

/** @throws When redis-server is not installed or does not become ready. */
export async function startRedis(): Promise<RedisServer> {
  const folder = makeTempDir();
  let { child, port } = await startOnFreePort(folder.path);

  const stop = async (how: 'ordinary' | 'kill9' = 'ordinary') => {
    child.kill('SIGCONT');
    child.kill(how === 'kill9' ? 'SIGKILL' : 'SIGTERM');
    await child.ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: () => child.pid,
    stop,
    async start() {
      if (!child.isRunning()) child = await startOn(port, folder.path);
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async close() {
      await stop();
      folder.remove();
    },
  };
}

/**
 * Claims an empty database of the test run's Redis.
 *
 * @throws When no database is free and empty.
 */
export async function redisDatabase(): Promise<RedisDatabase> {
  const serverUrl = inject('redisUrl');
  const registry = new Redis(withDatabase(serverUrl, 0));
  try {
    const number = await claimDatabase(registry);
    const url = withDatabase(serverUrl, number);
    return { url, drop: () => dropDatabase(serverUrl, number) };
  } finally {
    registry.disconnect();
  }
}

async function claimDatabase(registry: Redis): Promise<number> {
  const [, count = '16'] = (await registry.config('GET', 'databases')) as string[];
  for (let number = 1; number < Number(count); number += 1) {
    const key = OWNER_KEY_PREFIX + number;
    if ((await registry.set(key, process.pid, 'EX', OWNER_SECONDS, 'NX')) === null) continue;
    await registry.select(number);
    const size = await registry.dbsize();
    await registry.select(0);
    if (size === 0) return number;
    await registry.del(key);
  }
  throw new Error(`All ${count} databases of the tests' Redis are in use or hold something`);
}

async function dropDatabase(serverUrl: string, number: number): Promise<void> {
  const client = new Redis(withDatabase(serverUrl, number));
  try {
    await client.flushdb();
    await client.select(0);
    await client.del(OWNER_KEY_PREFIX + number);
  } finally {
    client.disconnect();
  }
}

function withDatabase(serverUrl: string, number: number): string {
  const url = new URL(serverUrl);
  url.pathname = `/${number}`;
  return url.href;
}

async function startOnFreePort(folder: string): Promise<{ child: Child; port: number }> {
  const port = await reservePort();
  return { child: await startOn(port, folder), port };
}

async function startOn(port: number, folder: string): Promise<Child> {
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    databases: String(DATABASES),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = await startChild('redis-server', args, { folder });
  const isReady = () => child.lines.some((line) => line.includes('Ready to accept connections'));
  await waitUntilReady('redis-server', child, isReady, READY_TIMEOUT_MS);
  return child;
}
