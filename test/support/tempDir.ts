import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A temporary folder; its creator must remove it. */
export interface TempDir {
  readonly path: string;
  /** Removes it recursively; idempotent. */
  remove(): void;
}

const MEMORY = '/dev/shm';
/** For the databases of a run. */
const NEEDED_BYTES = 4 * 2 ** 30;
const parent = hasRoomInMemory() ? MEMORY : tmpdir();

/** Creates an empty folder that may outlive one test; in memory, since databases create and remove thousands of files. */
export function makeTempDir(): TempDir {
  const path = mkdtempSync(join(parent, 'callway-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Creates an empty folder that is removed after the running test.
 *
 * @throws When no test is running; use {@link makeTempDir} in a hook.
 */
export function tempDir(): string {
  const { path, remove } = makeTempDir();
  onTestFinished(remove);
  return path;
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mounts = readFileSync('/proc/mounts', 'utf8');
    const options = new RegExp(`^\\S+ ${MEMORY} tmpfs (\\S+)`, 'm').exec(mounts)?.[1]?.split(',');
    return options?.includes('rw') === true && !options.includes('noexec') && bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false; // no such file system
  }
}
