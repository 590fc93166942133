import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../support/tempDir.ts';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>;
};

/** A folder whose service says when it is there, and ends by SIGTERM in a way of its own. */
function serviceFolder(): string {
  const folder = tempDir();
  mkdirSync(join(folder, 'scripts'));
  const service =
    "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('up');";
  writeFileSync(join(folder, 'scripts', 'run.mjs'), service);
  return folder;
}

/** As npm does: it runs a script by a shell, and hands SIGTERM on to that shell alone. */
test.each(['start', 'demo'])('SIGTERM to the shell of "npm run %s" is the service’s', async (name) => {
  const shell = spawn('sh', ['-c', scripts[name] ?? ''], {
    cwd: serviceFolder(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(shell.stdout, 'data');
  shell.kill('SIGTERM');
  expect(await once(shell, 'exit')).toEqual([7, null]);
});
