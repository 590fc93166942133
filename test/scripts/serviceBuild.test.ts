import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { build, freshBuild } from '../../scripts/lib/serviceBuild.mjs';
import { tempDir } from '../support/tempDir.ts';

/** A source of one file, and a compiler that copies it. */
function place() {
  const folder = tempDir();
  const source = join(folder, 'src', 'main.ts');
  mkdirSync(join(folder, 'src'));
  writeFileSync(source, 'first');
  const compiler = { runs: 0, ok: true };
  const compile = async (outDir: string) => {
    compiler.runs += 1;
    mkdirSync(join(outDir, 'src'), { recursive: true });
    writeFileSync(join(outDir, 'src', 'main.js'), readFileSync(source));
    return { ok: compiler.ok, output: compiler.ok ? '' : 'src/main.ts(1,1): error' };
  };
  return { folder, source, compiler, at: { folder, compile } };
}

const textOf = (main: string | undefined) => main && readFileSync(main, 'utf8');

test('compiles once, and again when the source has changed', async () => {
  const { folder, source, compiler, at } = place();

  expect(await freshBuild(at)).toBe(join(folder, 'dist', 'src', 'main.js'));
  expect(textOf(await freshBuild(at))).toBe('first');
  expect(compiler.runs).toBe(1);

  writeFileSync(source, 'other');
  expect(textOf(await freshBuild(at))).toBe('other');
  utimesSync(source, 1, 1);
  await freshBuild(at);
  writeFileSync(join(folder, 'src', 'added.ts'), '');
  await freshBuild(at);
  rmSync(join(folder, 'src', 'added.ts'));
  await freshBuild(at);
  expect(compiler.runs).toBe(5);
});

test('reuses built files and rebuilds removed ones', async () => {
  const { folder, compiler, at } = place();
  await build(at);
  await freshBuild(at);
  expect(compiler.runs).toBe(1);

  rmSync(join(folder, 'dist', 'src', 'main.js'));
  expect(textOf(await freshBuild(at))).toBe('first');
});

test('an error leaves what was built before, is no build, and leaves nothing lying about', async () => {
  const { folder, source, compiler, at } = place();
  await build(at);
  writeFileSync(source, 'broken');
  compiler.ok = false;

  expect(await freshBuild(at)).toBeUndefined();
  expect(await build(at)).toEqual({ ok: false, output: 'src/main.ts(1,1): error' });

  expect(textOf(join(folder, 'dist', 'src', 'main.js'))).toBe('first');
  expect(readdirSync(folder).sort()).toEqual(['dist', 'src']);
  expect(existsSync(source)).toBe(true);
});
