import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';

import { ORPHAN_SECONDS, watchForOrphan } from './orphanWatch.ts';

const START_TIMEOUT_MILLISECONDS = 15_000;
const STOP_TIMEOUT_MILLISECONDS = 10_000;
const POLL_MILLISECONDS = 25;
const FIRST_RESTART_MILLISECONDS = 200;
const LONGEST_RESTART_MILLISECONDS = 10_000;

interface State {
  readonly port: number;
  readonly password: string;
}

export interface RedisServerDeps {
  /** The data folder, which survives restarts. */
  readonly folder: string;
  /** The server ends when no process has used the folder for this long; default {@link ORPHAN_SECONDS}. */
  readonly orphanSeconds?: number;
  readonly onEvent: (event: 'adopted' | 'started' | 'exited', details: object) => void;
}

export interface RedisServer {
  readonly url: string;
  /** Shuts the server down after it has written everything. Idempotent. */
  close(): Promise<void>;
}

/**
 * Runs a `redis-server` child process on a free loopback port with a random password. A server that a crashed Callway
 * left running is adopted with its data, and a server that exits is restarted. Writes reach the disk within a second. A
 * server that no process adopts ends by itself.
 *
 * @throws {Error} When `redis-server` is not installed or does not start.
 */
export async function startRedisServer(deps: RedisServerDeps): Promise<RedisServer> {
  await mkdir(deps.folder, { recursive: true, mode: 0o700 });
  const saved = await readState(deps.folder);
  const state = saved ?? { port: await freePort(), password: randomBytes(24).toString('base64url') };
  let child: ChildProcess | undefined;
  let endWatch: (() => void) | undefined;
  let closing: Promise<void> | undefined;
  let pauseMs = FIRST_RESTART_MILLISECONDS;

  const watch = async (pid: number | undefined): Promise<void> => {
    endWatch?.();
    endWatch =
      pid === undefined
        ? undefined
        : await watchForOrphan(deps.folder, pid, deps.orphanSeconds ?? ORPHAN_SECONDS);
  };
  const launch = async (current: State): Promise<void> => {
    child = await spawnServer(deps.folder, current, watch);
    deps.onEvent('started', { port: current.port, pid: child.pid });
    child.once('exit', (code, signal) => {
      child = undefined;
      if (closing) return;
      deps.onEvent('exited', { code, signal });
      void restart(current);
    });
  };
  const restart = async (current: State): Promise<void> => {
    while (!closing) {
      await delay(pauseMs, undefined, { ref: false });
      pauseMs = Math.min(pauseMs * 2, LONGEST_RESTART_MILLISECONDS);
      if (closing) return;
      try {
        await launch(current);
        pauseMs = FIRST_RESTART_MILLISECONDS;
        return;
      } catch (error) {
        deps.onEvent('exited', { error });
      }
    }
  };

  const url = (current: State) => `redis://:${current.password}@127.0.0.1:${current.port}`;
  let running = state;
  if (saved && (await isAnswering(url(saved)))) {
    // A server that ends meanwhile is restarted.
    await watch(await processIdOf(url(saved)).catch(() => undefined));
    deps.onEvent('adopted', { port: saved.port });
    watchAdopted(url(saved), () => (closing ? undefined : restart(saved)));
  } else {
    if (saved && !(await isFree(saved.port))) running = { ...state, port: await freePort() };
    await writeState(deps.folder, running);
    await launch(running);
  }

  return {
    url: url(running),
    close() {
      closing ??= shutDown(url(running), child).finally(() => endWatch?.());
      return closing;
    },
  };
}

/** @param onSpawn - Called before the server is ready, so that it is watched from its first moment. */
async function spawnServer(
  folder: string,
  state: State,
  onSpawn: (pid: number | undefined) => Promise<void>,
): Promise<ChildProcess> {
  const quotedFolder = folder.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  const configuration = [
    `port ${state.port}`,
    'bind 127.0.0.1',
    `requirepass ${state.password}`,
    `dir "${quotedFolder}"`,
    `pidfile "${quotedFolder}/redis.pid"`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    'daemonize no',
  ].join('\n');
  const log = await open(join(folder, 'redis.log'), 'a', 0o600);
  // The configuration is passed on standard input, so that the password is in no argument and no file. A process
  // group of its own keeps Ctrl-C in a terminal from stopping it before us.
  const child = spawn('redis-server', ['-'], { stdio: ['pipe', log.fd, log.fd], detached: true });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) =>
      reject(new Error(`redis-server cannot be started (${error.message}); install it, or set REDIS_URL`)),
    );
    child.once('exit', (code) =>
      reject(new Error(`redis-server exited at startup (code ${code}); see ${join(folder, 'redis.log')}`)),
    );
  });
  child.stdin?.on('error', () => {
    // The exit event reports the failure.
  });
  child.stdin?.end(configuration);
  child.unref();
  try {
    await onSpawn(child.pid);
    await Promise.race([failed, untilReady(`redis://:${state.password}@127.0.0.1:${state.port}`)]);
  } finally {
    await log.close();
  }
  failed.catch(() => {});
  return child;
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MILLISECONDS;
  while (!(await isAnswering(url))) {
    if (Date.now() > deadline) throw new Error('redis-server did not become ready');
    await delay(POLL_MILLISECONDS);
  }
}

async function isAnswering(url: string): Promise<boolean> {
  return await withClient(url, async (client) => (await client.ping()) === 'PONG').catch(() => false);
}

async function processIdOf(url: string): Promise<number | undefined> {
  const info = await withClient(url, (client) => client.info('server'));
  const [, pid] = /^process_id:(\d+)/m.exec(info) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

async function shutDown(url: string, child: ChildProcess | undefined): Promise<void> {
  const exited = child && new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await withClient(url, (client) => client.call('SHUTDOWN')).catch(() => {
    // The server closes the connection instead of answering.
  });
  const waiting = new AbortController();
  const timeout = delay(STOP_TIMEOUT_MILLISECONDS, undefined, { signal: waiting.signal });
  await Promise.race([exited ?? untilStopped(url, waiting.signal), timeout]).finally(() => waiting.abort());
}

async function untilStopped(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await isAnswering(url))) await delay(POLL_MILLISECONDS);
}

/** Calls back when a server that is not our child process has exited. */
function watchAdopted(url: string, onExit: () => void): void {
  const client = new Redis(url, { retryStrategy: null, maxRetriesPerRequest: 0 });
  client.on('error', () => {
    // `end` follows.
  });
  client.once('end', onExit);
}

async function withClient<Result>(url: string, use: (client: Redis) => Promise<Result>): Promise<Result> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: 2_000,
  });
  client.on('error', () => {
    // The command rejects with the same error.
  });
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function readState(folder: string): Promise<State | undefined> {
  try {
    const state: unknown = JSON.parse(await readFile(join(folder, 'server.json'), 'utf8'));
    const isState =
      typeof state === 'object' &&
      state !== null &&
      'port' in state &&
      typeof state.port === 'number' &&
      'password' in state &&
      typeof state.password === 'string';
    return isState ? (state as State) : undefined;
  } catch {
    // There is none yet, or a crash left a partial file. A new server reads the same data.
    return undefined;
  }
}

async function writeState(folder: string, state: State): Promise<void> {
  const file = join(folder, 'server.json');
  await writeFile(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function freePort(): Promise<number> {
  return await listenBriefly(0);
}

async function isFree(port: number): Promise<boolean> {
  return await listenBriefly(port).then(
    () => true,
    () => false,
  );
}

function listenBriefly(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const chosen = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve(chosen));
    });
  });
}
