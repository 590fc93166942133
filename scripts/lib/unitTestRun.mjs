import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './paths.mjs';

/** For vitest. */
export const ONLY_UNIT_TESTS = ['integration', 'realtime'].map((kind) => `--exclude=**/*.${kind}.test.ts`);

/**
 * Runs unit tests quietly until the first failure, and ends them and their workers when they take too long or
 * this process exits.
 *
 * @param {string} cwd - The project, or a copy of it.
 * @param {readonly string[]} tests - Files or folders.
 * @param {number} timeoutMs
 * @returns {Promise<'passed' | 'failed' | 'timed out'>}
 */
export function runUnitTests(cwd, tests, timeoutMs) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', ...ONLY_UNIT_TESTS, '--bail=1', '--maxWorkers=1', ...tests];
  return new Promise((resolve) => {
    // Each mutant would be built, which takes longer than most rooms' tests.
    const env = { ...process.env, CALLWAY_TEST_SOURCES: '1' };
    // A process group of its own: its workers end with it.
    const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore', detached: true });
    let isTimedOut = false;
    const kill = () => {
      const isRunning = child.exitCode === null && child.signalCode === null;
      if (child.pid !== undefined && isRunning) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = Number.isFinite(timeoutMs)
      ? setTimeout(() => {
          isTimedOut = true;
          kill();
        }, timeoutMs)
      : undefined;
    // Before other listeners remove the folder in which the tests run.
    process.prependOnceListener('exit', kill);
    child.once('close', (code) => {
      clearTimeout(timer);
      process.off('exit', kill);
      resolve(isTimedOut ? 'timed out' : code === 0 ? 'passed' : 'failed');
    });
  });
}
