import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An external program that runs beside a test. */
export interface Program {
  readonly pid: number;
  /** Its output, for the message of a failing test. */
  readonly output: string;
  close(): Promise<void>;
}

/** Runs a program with the real-time policy of simulated phones, where that is allowed. */
const REAL_TIME = ['chrt', '--rr', '1'] as const;
const mayBeRealTime = spawnSync(REAL_TIME[0], [...REAL_TIME.slice(1), 'true']).status === 0;

/** How long a program may take to exit. */
const GRACE_MS = 3000;

/**
 * Starts a program in a temporary folder with the given files.
 *
 * @param args - Given the folder.
 * @param keepsTime - Beside busy processes too, as a phone on a machine of its own does.
 * @throws {Error} When the program does not exist.
 */
export async function startProgram(
  name: string,
  files: Readonly<Record<string, string>>,
  args: (folder: string) => readonly string[],
  keepsTime = false,
): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  for (const [file, text] of Object.entries(files)) {
    await writeFile(join(folder, file), text.replaceAll('@FOLDER@', folder));
  }
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  // A process group of its own, for programs with processes of their own.
  const [command = name, ...rest] = [...(keepsTime && mayBeRealTime ? REAL_TIME : []), name, ...args(folder)];
  const child = spawn(command, rest, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const killAll = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', killAll);
  let output = '';
  const keep = (bytes: Buffer) => {
    output = (output + bytes.toString()).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exited = once(child, 'close');
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new Error(`${name} is not installed`, { cause });
  });
  return {
    pid: child.pid ?? 0,
    get output() {
      return output;
    },
    async close() {
      child.kill('SIGTERM');
      const late = setTimeout(killAll, GRACE_MS);
      if (child.exitCode === null && child.signalCode === null) await exited;
      clearTimeout(late);
      process.off('exit', killAll);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
