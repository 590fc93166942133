import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { tempDir } from '../support/tempDir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A clone with only what a start needs. */
function clone(): string {
  const folder = tempDir();
  for (const name of ['bin', 'scripts', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  return folder;
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
}

test('the command line without dependencies says how to install them', async () => {
  const folder = clone();
  await expect(run(process.execPath, [join(folder, 'bin/callway.mjs')])).rejects.toMatchObject({
    code: 1,
    stderr: `The dependencies of Callway are not installed: run "npm ci" in ${folder}/ first.\n`,
  });
});

test('the command line runs from source, and from the build where there is one', async () => {
  const folder = clone();
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  write(folder, 'src/cli/main.ts', "const [, , name]: string[] = process.argv; console.log('source', name);");
  const callway = () =>
    run(process.execPath, [join(folder, 'bin/callway.mjs'), '--help'], { cwd: tempDir() });
  expect((await callway()).stdout).toBe('source --help\n');

  write(folder, 'dist/src/cli/main.js', "console.log('built', process.argv[2]);");
  expect((await callway()).stdout).toBe('built --help\n');
});

test.each([
  ['callway', 'src/cli/main.ts'],
  ['callway-sip', 'sip/main.ts'],
])('npx finds %s in a clone', async (name, source) => {
  const folder = clone();
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  write(folder, source, "console.log('source', process.argv[2]);");
  const { stdout } = await run('npx', ['--offline', name, '--help'], { cwd: folder });
  expect(stdout).toBe('source --help\n');
});

test('an unknown command lists the known ones', async () => {
  await expect(run(process.execPath, [join(root, 'scripts/run.mjs'), 'tset'])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Unknown command "tset"\.[\s\S]*\n {2}test /),
  });
});

test('test:unit names the files that it does not run, and what runs them', async () => {
  const files = ['test/x.test.ts', 'test/y.integration.test.ts', 'test/z.realtime.test.ts'];
  await expect(
    run(process.execPath, [join(root, 'scripts/run.mjs'), 'test:unit', ...files]),
  ).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /npm test -- FILE.*\n {2}test\/y\.integration\.test\.ts\n {2}test\/z\.realtime\.test\.ts\n$/,
    ),
  });
});

test('an unknown benchmark is refused', async () => {
  await expect(run(process.execPath, [join(root, 'scripts/run.mjs'), 'bench', '../x'])).rejects.toMatchObject(
    {
      code: 1,
      stderr: expect.stringMatching(/^Unknown benchmark "\.\.\/x"\./),
    },
  );
});

test('in production, start runs the build, installs nothing, and reads unset settings from .env', async () => {
  const folder = clone();
  write(folder, 'dist/src/main.js', "console.log('built', process.cwd(), process.argv[2]);");
  write(folder, '.env', 'REDIS_URL=redis://127.0.0.1:1\nNODE_ENV=production\nSTT_PROVIDER=openai\n');
  const { NODE_ENV: _, REDIS_URL: __, ...env } = process.env;
  const { stdout, stderr } = await run(
    process.execPath,
    [join(folder, 'scripts/run.mjs'), 'start', 'argument'],
    {
      env: { ...env, PATH: '' },
    },
  );
  expect(stdout).toBe(`built ${folder} argument\n`);
  expect(stderr).toBe('');
});

test('start without Redis says what is missing and the alternative', async () => {
  const folder = clone();
  write(folder, 'dist/src/main.js', '');
  const { REDIS_URL: _, ...env } = process.env;
  await expect(
    run(process.execPath, [join(folder, 'scripts/run.mjs'), 'start'], {
      env: { ...env, NODE_ENV: 'production', PATH: '' },
    }),
  ).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /this machine lacks redis-server\.[\s\S]*REDIS_URL to an existing Redis server\.\n$/,
    ),
  });
});
