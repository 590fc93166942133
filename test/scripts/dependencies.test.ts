import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureDependencies, whyInstall } from '../../scripts/lib/dependencies.mjs';
import { tempDir } from '../support/tempDir.ts';

const lockOf = (version: string) => ({
  packages: {
    '': { name: 'sample' },
    'node_modules/a': { version },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
});

function clone(): string {
  const folder = tempDir();
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lockOf('1.0.0')));
  return folder;
}

/** What `npm ci` does, as far as these tests need; counts its runs. */
function installer(folder: string, record: object = { packages: {} }) {
  const installer = {
    runs: 0,
    install: async () => {
      installer.runs += 1;
      rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
      mkdirSync(join(folder, 'node_modules'));
      writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify(record));
    },
  };
  return installer;
}

test('a fresh clone is installed once', async () => {
  const folder = clone();
  expect(whyInstall(folder)).toBe('node_modules does not exist');
  const npm = installer(folder);
  await ensureDependencies({ folder, install: npm.install });
  await ensureDependencies({ folder, install: npm.install });
  expect(npm.runs).toBe(1);
  expect(whyInstall(folder)).toBe('');
});

test('a changed lock file is installed again', async () => {
  const folder = clone();
  const npm = installer(folder);
  await ensureDependencies({ folder, install: npm.install });
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lockOf('1.0.1')));
  expect(whyInstall(folder)).toMatch(/has changed/);
  await ensureDependencies({ folder, install: npm.install });
  expect(npm.runs).toBe(2);
});

test('an installation by another Node or platform is replaced', async () => {
  const folder = clone();
  await ensureDependencies({ folder, install: installer(folder).install });
  const stamp = join(folder, 'node_modules', '.callway-stamp');
  writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(/node-\d+/, 'node-18'));
  expect(whyInstall(folder)).toMatch(/has changed/);
});

test.each([
  ['just what the lock names', { 'node_modules/a': { version: '1.0.0' } }, ''],
  [
    'another version',
    { 'node_modules/a': { version: '0.9.0' } },
    'node_modules does not match package-lock.json',
  ],
  ['less than the lock names', {}, 'node_modules does not match package-lock.json'],
])('a node_modules that npm installed with %s', async (_, packages, reason) => {
  const folder = clone();
  await installer(folder, { packages }).install();
  expect(whyInstall(folder)).toBe(reason);
});

test('two concurrent calls install once', async () => {
  const folder = clone();
  const npm = installer(folder);
  const install = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    await npm.install();
  };
  await Promise.all([ensureDependencies({ folder, install }), ensureDependencies({ folder, install })]);
  expect(npm.runs).toBe(1);
});

test('a failed installation leaves no stamp', async () => {
  const folder = clone();
  const install = async () => {
    await installer(folder).install();
    throw new Error('no network');
  };
  await expect(ensureDependencies({ folder, install })).rejects.toThrow('no network');
  expect(whyInstall(folder)).not.toBe('');
});

test('a node_modules that is a symbolic link is not installed through', async () => {
  const [folder, target] = [clone(), tempDir()];
  writeFileSync(join(target, 'package.json'), '{}');
  symlinkSync(target, join(folder, 'node_modules'));
  const npm = installer(folder);
  await expect(ensureDependencies({ folder, install: npm.install })).rejects.toThrow(
    /node_modules is a symbolic link, and npm ci would empty the folder/,
  );
  expect(npm.runs).toBe(0);
});

test('a link to a matching node_modules needs no installation', async () => {
  const [folder, target] = [clone(), tempDir()];
  writeFileSync(join(target, '.package-lock.json'), JSON.stringify(lockOf('1.0.0')));
  symlinkSync(target, join(folder, 'node_modules'));
  const npm = installer(folder);
  await ensureDependencies({ folder, install: npm.install });
  expect(npm.runs).toBe(0);
});

test('a dangling link is refused too', async () => {
  const folder = clone();
  symlinkSync(join(folder, 'absent'), join(folder, 'node_modules'));
  await expect(ensureDependencies({ folder, install: installer(folder).install })).rejects.toThrow(
    'is a symbolic link',
  );
});
