import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** A service that starts waits this long for the previous process to exit, which takes a moment after a kill. */
export const START_WAIT_MS = 10_000;

const LOCK_FILE = 'callway.lock';
const HEARTBEAT_MS = 2_000;
/** A holder on another host, such as a removed container, is dead when its heartbeat is older than this. */
const STALE_AFTER_MS = 15_000;
const POLL_MS = 100;

const holder = z.object({
  token: z.string().regex(/^[\w-]+$/),
  pid: z.int().positive(),
  host: z.string(),
  /** Start time of the process in clock ticks since boot, on Linux; a process that reuses the pid has another one. */
  startedAtTicks: z.string().optional(),
});
type Holder = z.infer<typeof holder>;
/** The holder of a lock that cannot be read. It is dead once its heartbeat is old. */
const DAMAGED_PID = 0;

export type FolderHolder = Pick<Holder, 'pid' | 'host'>;

export interface FolderLockOptions {
  /** The time to wait for a living holder to exit. Default: 0. */
  readonly waitMs?: number;
  /** Called once, when the wait starts. */
  readonly onWait?: (holder: FolderHolder) => void;
}

/** A living process holds the folder. */
export class FolderLockedError extends Error {
  readonly holder: FolderHolder;

  constructor(folder: string, holder: FolderHolder) {
    super(
      holder.pid === DAMAGED_PID
        ? `${join(folder, LOCK_FILE)} is damaged; delete it if no other Callway uses ${folder}, or set DATA_DIR to another folder`
        : `${folder} is in use by another Callway (process ${holder.pid} on ${holder.host}); stop it, or set DATA_DIR to another folder`,
    );
    this.name = 'FolderLockedError';
    this.holder = { pid: holder.pid, host: holder.host };
  }
}

/**
 * Locks a folder for this process. The lock of a dead process is taken over, so that a crash needs no cleanup.
 *
 * @returns A function that releases the lock; idempotent.
 * @throws {FolderLockedError} When a living process holds the folder until the wait is over.
 */
export async function lockFolder(
  folder: string,
  { waitMs = 0, onWait }: FolderLockOptions = {},
): Promise<() => Promise<void>> {
  const path = join(folder, LOCK_FILE);
  const own: Holder = {
    token: randomUUID(),
    pid: process.pid,
    host: hostname(),
    startedAtTicks: (await readProcess(process.pid))?.startedAtTicks,
  };
  const deadlineMs = performance.now() + waitMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      await take(folder, path, own);
      break;
    } catch (error) {
      if (!(error instanceof FolderLockedError) || performance.now() >= deadlineMs) throw error;
      if (isFirst) onWait?.(error.holder);
      await delay(POLL_MS);
    }
  }

  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {
      // The next heartbeat tries again. Only processes on other hosts read it.
    });
  }, HEARTBEAT_MS);
  heartbeat.unref();
  let isReleased = false;
  return async () => {
    if (isReleased) return;
    isReleased = true;
    clearInterval(heartbeat);
    if ((await readHolder(path))?.token === own.token) await rm(path, { force: true });
  };
}

/** @returns The living process that holds the folder, if any. */
export async function folderHolder(folder: string): Promise<FolderHolder | undefined> {
  const path = join(folder, LOCK_FILE);
  const found = await readHolder(path);
  return found && (await isAlive(found, path)) ? { pid: found.pid, host: found.host } : undefined;
}

async function take(folder: string, path: string, own: Holder): Promise<void> {
  const candidate = `${path}.${own.token}.new`;
  await writeFile(candidate, JSON.stringify(own), { mode: 0o600 });
  try {
    while (!(await tryLink(candidate, path))) {
      if (await takeOver(folder, path, candidate, own)) return;
    }
  } finally {
    await rm(candidate, { force: true });
  }
}

/** Creates a hard link: atomic, and fails when the target exists. */
async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Replaces the lock of a dead holder. Processes that find the same dead lock first lock a claim file for it, so that
 * only one of them replaces it; a claim is a lock like any other, and survives a crash in the same way.
 *
 * @returns False when another process has released or taken over the lock meanwhile.
 */
async function takeOver(folder: string, path: string, candidate: string, own: Holder): Promise<boolean> {
  const dead = await readHolder(path);
  if (!dead) return false;
  if (await isAlive(dead, path)) throw new FolderLockedError(folder, dead);
  const claim = `${path}.${dead.token}`;
  await take(folder, claim, own);
  try {
    if ((await readHolder(path))?.token !== dead.token) return false;
    // A rename replaces the lock atomically: the folder is never unlocked in between.
    await rename(candidate, path);
    return true;
  } finally {
    await rm(claim, { force: true });
  }
}

async function isAlive({ host, pid, startedAtTicks }: Holder, path: string): Promise<boolean> {
  if (host !== hostname()) {
    const beatAtMs = await heartbeatOf(path);
    const ageMs = Date.now() - beatAtMs;
    if (ageMs > -STALE_AFTER_MS) return ageMs < STALE_AFTER_MS;
    // From the future: the clock of one host is wrong, and only another heartbeat shows that the holder lives.
    await delay(2 * HEARTBEAT_MS);
    return (await heartbeatOf(path)) !== beatAtMs;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    return isCode(error, 'EPERM');
  }
  const running = await readProcess(pid);
  if (!running) return startedAtTicks === undefined;
  if (running.isZombie) return false;
  return startedAtTicks === undefined || running.startedAtTicks === startedAtTicks;
}

async function heartbeatOf(path: string): Promise<number> {
  return (await stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return holder.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    return { token: 'unreadable', pid: DAMAGED_PID, host: '' };
  }
}

/**
 * @returns Undefined on systems without /proc, or when the process does not exist.
 * @see proc(5): fields 3 (state), 20 (threads) and 22 (start time) of /proc/pid/stat, counted after the command's closing
 *   bracket
 */
async function readProcess(
  pid: number,
): Promise<{ readonly isZombie: boolean; readonly startedAtTicks: string | undefined } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // A killed process whose other threads have not exited yet may still complete a write.
  const isZombie = (fields[0] === 'Z' || fields[0] === 'X') && Number(fields[17]) <= 1;
  return { isZombie, startedAtTicks: fields[19] };
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
