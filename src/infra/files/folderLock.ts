import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

const LOCK_FILE = 'callway.lock';
/** The holder shows so often that it lives. */
const HEARTBEAT_MILLISECONDS = 2_000;
/** A holder on another host (a container that is gone, say) that has not shown itself for so long is dead. */
const STALE_MILLISECONDS = 15_000;

interface Holder {
  readonly token: string;
  readonly pid: number;
  readonly host: string;
  /** Clock ticks since boot at the process's start, where the system tells; a reused pid has others. */
  readonly startedAtTicks: string | undefined;
}

/** Somebody else has the folder. */
export class FolderLockedError extends Error {
  constructor(folder: string, holder: { pid: number; host: string }) {
    super(
      `${folder} is in use by another Callway (process ${holder.pid} on ${holder.host}); stop it, or give this one a DATA_DIR of its own`,
    );
    this.name = 'FolderLockedError';
  }
}

/**
 * Takes a folder for this process alone. A lock whose process is dead is taken over, so that nothing has to be
 * cleaned up after a crash.
 *
 * @returns A function that gives the folder back; idempotent.
 * @throws {FolderLockedError} When a living process has it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, LOCK_FILE);
  const own: Holder = {
    token: randomUUID(),
    pid: process.pid,
    host: hostname(),
    startedAtTicks: await startTicks(process.pid),
  };
  await take(folder, path, own);

  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {
      // The next beat tries again; only a holder on another host is judged by it.
    });
  }, HEARTBEAT_MILLISECONDS);
  heartbeat.unref();
  let released = false;
  return async () => {
    if (released) return;
    released = true;
    clearInterval(heartbeat);
    if ((await readHolder(path))?.token === own.token) await rm(path, { force: true });
  };
}

/** @returns The living process that has the folder, if any; takes nothing. */
export async function folderHolder(folder: string): Promise<{ pid: number; host: string } | undefined> {
  const path = join(folder, LOCK_FILE);
  const holder = await readHolder(path);
  return holder && (await isAlive(holder, path)) ? { pid: holder.pid, host: holder.host } : undefined;
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

/** A hard link appears whole or not at all, and never over another file. */
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
 * Puts the candidate in the place of a dead holder's lock. Of several that find the same one, only the one that has
 * taken the claim to it may; a claim is a lock like any other, so that a crash in the middle of this hurts nobody.
 *
 * @returns Whether it did; otherwise the lock has changed hands meanwhile, or is free.
 */
async function takeOver(folder: string, path: string, candidate: string, own: Holder): Promise<boolean> {
  const dead = await readHolder(path);
  if (!dead) return false;
  if (await isAlive(dead, path)) throw new FolderLockedError(folder, dead);
  const claim = `${path}.${dead.token}`;
  await take(folder, claim, own);
  try {
    if ((await readHolder(path))?.token !== dead.token) return false;
    // Replaces the old one: there is no moment in which the folder is free for a third.
    await rename(candidate, path);
    return true;
  } finally {
    await rm(claim, { force: true });
  }
}

async function isAlive(holder: Holder, path: string): Promise<boolean> {
  if (holder.host !== hostname()) {
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
    return Date.now() - mtimeMs < STALE_MILLISECONDS;
  }
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return isCode(error, 'EPERM');
  }
  return holder.startedAtTicks === undefined || (await startTicks(holder.pid)) === holder.startedAtTicks;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    return { token: 'unreadable', pid: 0, host: '', startedAtTicks: undefined };
  }
}

/** @see proc(5), field 22 of /proc/pid/stat, counted behind the command's closing bracket. */
async function startTicks(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
