import { createHash } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Stop } from './stop.mjs';

const POLL_MS = 200;

/** Longer than any installation takes. */
const PATIENCE_MS = 15 * 60_000;

/**
 * Path of the lock file for a resource of this machine.
 *
 * @param {string} what - `apt`, or the folder that is written to.
 */
export function lockPath(what) {
  const digest = createHash('sha256').update(what).digest('hex').slice(0, 16);
  return join(tmpdir(), `callway-${digest}.lock`);
}

/**
 * Runs the work while no other process on this machine holds the lock. The lock of a dead process is taken over.
 *
 * @template Result
 * @param {string} path - The lock file; contains the holder's process id.
 * @param {() => Promise<Result>} work
 * @param {{ patienceMs?: number }} [options]
 * @returns {Promise<Result>}
 * @throws {Stop} When another process holds the lock longer than `patienceMs`.
 */
export async function withLock(path, work, { patienceMs = PATIENCE_MS } = {}) {
  await acquire(path, patienceMs);
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/**
 * @param {string} path
 * @param {number} patienceMs
 */
async function acquire(path, patienceMs) {
  const giveUpAtMs = performance.now() + patienceMs;
  let isAnnounced = false;
  while (!tryCreate(path)) {
    const holder = readHolder(path);
    if (holder !== undefined && !isAlive(holder)) {
      takeAway(path, holder);
      continue;
    }
    if (performance.now() > giveUpAtMs) {
      throw new Stop(
        `Process ${holder} has been installing for too long; stop it, or remove ${path} if it is stale.`,
      );
    }
    if (!isAnnounced) console.error(`Waiting for process ${holder}, which runs the same installation…`);
    isAnnounced = true;
    await sleep(POLL_MS);
  }
}

/**
 * Creates the file together with its content, so that it is never empty.
 *
 * @param {string} path
 */
function tryCreate(path) {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, String(process.pid), { flag: 'wx' });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @param {string} path
 * @returns {number | undefined} Undefined when the lock was released meanwhile.
 */
function readHolder(path) {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Removes the lock of a dead process. Only one of several processes can rename it; a process that took the lock of a
 * living one puts it back.
 *
 * @param {string} path
 * @param {number} deadHolder
 */
function takeAway(path, deadHolder) {
  const taken = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, taken);
    if (readHolder(taken) !== deadHolder) linkSync(taken, path);
  } catch (error) {
    if (!isCode(error, 'ENOENT') && !isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(taken, { force: true });
  }
}

/** @param {number} pid */
function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function isCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}
