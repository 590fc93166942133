import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { bundle, ENTRIES } from '../../scripts/lib/bundle.mjs';
import { createTestDatabase } from '../support/postgres.ts';
import { startService } from '../support/processes.ts';
import { tempDir } from '../support/tempDir.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('the bundle has every thread under the name by which the code starts it', () => {
  const started = ['src', 'sip', 'offline'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => posix.join(folder, file))
      .flatMap((file) =>
        [...read(file).matchAll(/(?<!`)new URL\('\.\/(\w+)\.ts', import\.meta\.url\)/g)].map(
          ([, name]) => [`src/${name}`, posix.join(dirname(file), `${name}.ts`)] as const,
        ),
      ),
  );

  const threads = Object.entries(ENTRIES).filter(([, source]) => !source.endsWith('/main.ts'));
  expect(started.sort()).toEqual(threads.sort());
});

test('a build error is reported with its place', async () => {
  const folder = tempDir();
  writeFileSync(join(folder, 'broken.ts'), 'const one = ;\n');

  const result = await bundle(join(folder, 'dist'), { broken: join(folder, 'broken.ts') });

  expect(result.ok).toBe(false);
  expect(result.output).toMatch(/Unexpected ";"[\s\S]*broken\.ts:1:12/);
  expect(existsSync(join(folder, 'dist'))).toBe(false);
});

describe('the built service', () => {
  // By globalSetup, for all tests.
  const entry = inject('serviceEntry');

  test('serves with its threads, pages and migrations', { timeout: 180_000 }, async () => {
    expect(entry).toBe(join(root, 'dist', 'src', 'main.js'));
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const service = await startService({ env: { DATABASE_URL: database.url } });
    onTestFinished(() => service.close());

    expect(service.lines.join('\n')).toContain('SIP server listening');
    const pages = await Promise.all(
      ['/docs/', '/openapi.json'].map((path) => fetch(service.url + path).then(({ status }) => status)),
    );
    expect(pages).toEqual([200, 200]);
    expect((await service.stop()).code).toBe(0);
  });

  test('has the command line', async () => {
    const program = join(dirname(entry), 'cli', 'main.js');
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--version']);
    expect(stdout.trim()).toBe(JSON.parse(read('package.json')).version);
  });
});
