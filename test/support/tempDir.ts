import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own that must be removed by whoever made it. */
export interface TempDir {
  readonly path: string;
  /** Removes it with all that is in it; idempotent. */
  remove(): void;
}

/** Makes an empty folder, for what lives longer than one test. */
export function makeTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), 'callway-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * An empty folder that goes when the running test ends.
 *
 * @throws When no test is running; a hook uses {@link makeTempDir}.
 */
export function tempDir(): string {
  const { path, remove } = makeTempDir();
  onTestFinished(remove);
  return path;
}
