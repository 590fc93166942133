import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './paths.mjs';

/**
 * Runs unit tests quietly until the first failure, and ends them and their workers when they take too long.
 *
 * @param {string} cwd - The project, or a copy of it.
 * @param {readonly string[]} tests - Files or folders.
 * @param {number} timeoutMs
 * @returns {Promise<'passed' | 'failed' | 'timed out'>}
 */
export function runUnitTests(cwd, tests, timeoutMs) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--project', 'unit', '--bail=1', '--maxWorkers=1', ...tests];
  return new Promise((resolve) => {
    // A process group of its own: its workers end with it.
    const child = spawn(process.execPath, args, { cwd, stdio: 'ignore', detached: true });
    let isTimedOut = false;
    const kill = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = Number.isFinite(timeoutMs)
      ? setTimeout(() => {
          isTimedOut = true;
          kill();
        }, timeoutMs)
      : undefined;
    const interrupt = () => {
      kill();
      process.exit(1);
    };
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt);
    child.once('close', (code) => {
      clearTimeout(timer);
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupt);
      resolve(isTimedOut ? 'timed out' : code === 0 ? 'passed' : 'failed');
    });
  });
}
