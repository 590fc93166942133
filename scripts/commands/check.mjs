import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCaptured } from '../lib/child.mjs';
import { ensureConsoleDependencies } from '../lib/consoleBuild.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { findWideDependencies } from '../lib/dependencyRules.mjs';
import { findFragments } from '../lib/docstrings.mjs';
import { findMutableFields } from '../lib/mutableFields.mjs';
import { dependencyProgram, root } from '../lib/paths.mjs';
import { writeConsoleTypes } from './consoleTypes.mjs';

/** Runs all checks, even after a failure. */
export async function run() {
  await Promise.all([ensureDependencies(), ensureConsoleDependencies()]);
  await writeConsoleTypes();
  const folders = ['src', 'sip', 'offline', 'bench', 'test'].filter((name) => existsSync(join(root, name)));
  const checks = [
    { title: 'types', program: 'tsc', args: ['-p', '.', '--pretty', 'false'] },
    { title: 'types of the console', program: 'tsc', args: ['-p', 'console', '--pretty', 'false'] },
    { title: 'lint and format', program: 'biome', args: ['check', '.'] },
    {
      title: 'import rules',
      program: 'depcruise',
      args: [...folders, '--config', '.dependency-cruiser.mjs'],
    },
    { title: 'unused files and exports', program: 'knip', args: ['--no-progress'] },
  ];
  const results = await Promise.all(
    checks.map(async ({ title, program, args }) => {
      const startedMs = performance.now();
      const { ok, output } = await runCaptured(dependencyProgram(program), args);
      return { title, ok, output, seconds: (performance.now() - startedMs) / 1000 };
    }),
  );
  const rules = {
    'docstrings are sentences': findFragments,
    'dependencies are small': findWideDependencies,
    'classes have few mutable fields': findMutableFields,
  };
  for (const [title, find] of Object.entries(rules)) {
    const startedMs = performance.now();
    const found = find(['src', 'sip', 'offline']);
    const seconds = (performance.now() - startedMs) / 1000;
    results.push({ title, ok: found.length === 0, output: found.join('\n'), seconds });
  }
  for (const { title, ok, output, seconds } of results) {
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${title} (${seconds.toFixed(1)} s)`);
    if (output.trim()) console.log(output.trimEnd());
  }
  if (results.some(({ ok }) => !ok)) process.exitCode = 1;
}
