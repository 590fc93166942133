import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startChild, waitUntilReady } from './child.ts';
import { tempDir } from './tempDir.ts';
import { startWatchdog } from './watchdog.ts';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('Waiting for a child that exits early fails with its last lines', async () => {
  const child = await startChild('sh', ['-c', 'echo the disk is full; exit 1'], {});
  await expect(waitUntilReady('The server', child, () => false, 5000)).rejects.toThrow(
    /ended before it was ready:\nthe disk is full/,
  );
});

test('A child and its folder are removed when the parent is killed', async () => {
  const folder = join(tempDir(), 'data');
  mkdirSync(folder);
  const script = `
    import { startChild } from ${JSON.stringify(new URL('./child.ts', import.meta.url).href)};
    const child = await startChild('sleep', ['60'], { folder: ${JSON.stringify(folder)} });
    console.log(child.pid);
    setInterval(() => {}, 1000);`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await once(parent.stdout, 'data');
  const pid = Number(output);
  expect(isAlive(pid)).toBe(true);

  parent.kill('SIGKILL');

  await vi.waitFor(() => expect([isAlive(pid), existsSync(folder)]).toEqual([false, false]));
});

test('A dismissed watchdog kills nothing', async () => {
  const child = await startChild('sleep', ['60'], {});
  const folder = tempDir();
  const dismiss = startWatchdog(child.pid, 'KILL', folder);

  dismiss();
  await new Promise((resolve) => setTimeout(resolve, 100));

  expect(child.isRunning()).toBe(true);
  expect(existsSync(folder)).toBe(true);
  child.kill('SIGKILL');
  await child.ended;
});
