import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A temporary folder; its creator must remove it. */
export interface TempDir {
  readonly path: string;
  /** Removes it recursively; idempotent. */
  remove(): void;
}

/** Creates an empty folder that may outlive one test. */
export function makeTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), 'callway-test-'));
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
