import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'node_modules', '.cache', 'callway-bench');

/**
 * Compiles what is measured as `npm run build` compiles the service: what a loader does to code as it is read costs
 * each request, and each packet, something that production does not pay.
 *
 * @param program - Below `bench/`, such as `http/child.ts`; named in `bench/tsconfig.json`.
 * @returns The program to fork.
 */
export async function compileProgram(program: string): Promise<string> {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'package.json'), '{ "type": "module" }\n');
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', join(ROOT, 'bench'), '--outDir', FOLDER];
  await promisify(execFile)(process.execPath, args);
  return join(FOLDER, 'bench', program.replace(/\.ts$/, '.js'));
}
