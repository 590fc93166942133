import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const STARTS = 5;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILT = join('dist', 'src', 'main.js');

/** The ways to start the service. */
const WAYS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['npm', 'start'],
  ['node', BUILT],
];

/**
 * Starts the service repeatedly on one embedded database, each way in turn; the first start of each, which creates the
 * database and compiles changed sources, does not count.
 *
 * @returns Seconds from process start to ready, for each start of each way.
 */
export async function measureStarts(): Promise<Map<string, number[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'callway-bench-'));
  const measured = new Map<string, number[]>(WAYS.map((way) => [way.join(' '), []]));
  try {
    for (let start = 0; start <= STARTS; start += 1) {
      for (const way of WAYS) {
        const seconds = await secondsToReady(folder, ...way);
        if (start > 0) measured.get(way.join(' '))?.push(seconds);
      }
    }
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function secondsToReady(folder: string, program: string, ...args: string[]): Promise<number> {
  if (program === 'node' && !existsSync(join(ROOT, BUILT))) throw new Error(`${BUILT} is missing`);
  const began = performance.now();
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: folder, DATABASE_URL: '', REDIS_URL: '', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // npm does not forward every signal to its script: the whole process group gets it.
    detached: true,
  });
  const exited = once(child, 'exit');
  let seconds: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes('"msg":"ready"')) continue;
    seconds = (performance.now() - began) / 1000;
    endGroup(child);
  }
  await exited;
  if (seconds === undefined) throw new Error(`${program} ${args.join(' ')} ended before it was ready`);
  return seconds;
}

function endGroup(child: ChildProcess): void {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
}
