import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A benchmark's program as it was at another commit. */
export interface OtherProgram {
  /** The program to fork. */
  readonly program: string;
  /** Removes its files. */
  close(): Promise<void>;
}

/**
 * Compiles a benchmark's program of another commit, in a worktree below the temporary folder, with the packages that the
 * commit's lock file names.
 *
 * @param program - Below `bench/`, such as `chat/child.ts`.
 * @throws {Error} When there is no such commit, or it cannot be compiled.
 */
export async function compileOtherCommit(commit: string, program: string): Promise<OtherProgram> {
  const folder = join(await mkdtemp(join(tmpdir(), 'callway-against-')), 'callway');
  const run = (command: string, args: readonly string[], cwd: string) =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const close = async () => {
    run('git', ['worktree', 'remove', '--force', folder], ROOT);
    await rm(join(folder, '..'), { recursive: true, force: true });
  };
  run('git', ['worktree', 'add', '--quiet', '--detach', folder, commit], ROOT);
  try {
    const [ours, theirs] = await Promise.all(
      [ROOT, folder].map((of) => readFile(join(of, 'package-lock.json'), 'utf8')),
    );
    if (ours === theirs) await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    else run('npm', ['ci', '--no-audit', '--no-fund'], folder);
    const compile = `const { compileProgram } = await import('./bench/support/compile.ts');
      console.log(await compileProgram(${JSON.stringify(program)}));`;
    const output = run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', compile], folder);
    return { program: output.trim().split('\n').at(-1) ?? '', close };
  } catch (error) {
    await close();
    throw error;
  }
}
