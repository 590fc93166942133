import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const STARTS = 5;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts the service over and over on one embedded database; the first start, which makes it, does not count. Takes
 * what `npm run build` made, where that is there.
 *
 * @returns Seconds from the process's start to its being ready, for each start.
 */
export async function measureStarts(): Promise<Map<string, number[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'callway-bench-'));
  try {
    await secondsToReady(folder);
    const seconds: number[] = [];
    for (let start = 0; start < STARTS; start += 1) seconds.push(await secondsToReady(folder));
    return new Map([['callway', seconds]]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function secondsToReady(folder: string): Promise<number> {
  const built = join(ROOT, 'dist', 'src', 'main.js');
  const program = existsSync(built) ? [built] : ['--import', 'tsx', join(ROOT, 'src', 'main.ts')];
  const began = performance.now();
  const child = spawn(process.execPath, program, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: folder, DATABASE_URL: '', REDIS_URL: '', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let seconds: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).msg !== 'ready') continue;
    seconds = (performance.now() - began) / 1000;
    child.kill('SIGTERM');
  }
  await exited;
  if (seconds === undefined) throw new Error('the service ended before it was ready');
  return seconds;
}
