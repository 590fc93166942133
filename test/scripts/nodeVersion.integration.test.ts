import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { tooOldMessage } from '../../scripts/lib/nodeVersion.mjs';
import { tempDir } from '../support/tempDir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

test.each([
  ['12.22.12', true],
  ['18.20.8', true],
  ['20.18.3', true],
  ['20.19.0', false],
  ['20.20.2', false],
  ['21.0.0', false],
  ['22.1.0', false],
  ['100.0.0', false],
])('Node %s: too old is %s', (version, isTooOld) => {
  expect(tooOldMessage(version) !== '').toBe(isTooOld);
});

test('the gate and package.json name the same version', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const oldest = engines.node.replace('>=', '');
  expect(tooOldMessage(oldest)).toBe('');
  const [major, minor] = oldest.split('.').map(Number);
  expect(tooOldMessage(`${major}.${minor - 1}.9`)).not.toBe('');
});

test.each(['scripts/run.mjs', 'bin/callway.mjs'])(
  '%s on an old Node ends with one clear line',
  async (entry) => {
    const preload = join(tempDir(), 'oldNode.mjs');
    writeFileSync(
      preload,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } });",
    );
    const args = ['--import', pathToFileURL(preload).href, join(root, entry), 'check'];
    await expect(run(process.execPath, args)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Callway requires Node 20\.19 or later; this is v18\.20\.8\. [^\n]+\n$/),
    });
  },
);

/** What old parsers cannot read must not stand in the files that are parsed before the gate. */
test.each(['scripts/run.mjs', 'bin/callway.mjs', 'scripts/lib/nodeVersion.mjs'])(
  '%s keeps to what old Nodes can parse',
  (file) => {
    const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
    expect(code).not.toMatch(/\?\.|\?\?|\|\|=|&&=|^await |from 'node:|#\w+\s*[=;(]/m);
    const imports = [...code.matchAll(/^import .* from '(.*)';$/gm)].map(([, name]) => name);
    expect(imports.filter((name) => !name?.endsWith('/nodeVersion.mjs'))).toEqual([]);
  },
);
