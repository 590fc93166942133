import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';

/**
 * Runs all fault tests on real processes, including the slow ones, and prints a table of faults and observations.
 *
 * @param {string[]} args - For vitest: `-t NAME` and so on.
 */
export async function run(args) {
  await ensureDependencies();
  const folder = mkdtempSync(join(tmpdir(), 'callway-faults-'));
  const file = join(folder, 'rows');
  const env = { ...process.env, CALLWAY_FAULTS: 'all', CALLWAY_FAULTS_FILE: file };
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const only = [
    'test/e2e/faults',
    'test/e2e/roles',
    'test/e2e/webhookCrash',
    'test/webhooks/dispatcher',
    'test/infra/postgres/results/exactSums',
    '--maxWorkers=1',
  ];
  try {
    const ending = await runAttached(process.execPath, [vitest, 'run', ...only, ...args], { env });
    if (existsSync(file)) console.log(tableOf(readFileSync(file, 'utf8')));
    endAs(ending);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} text - One JSON object per line, as test/e2e/faults/support/table.ts writes them.
 * @returns A Markdown table.
 */
export function tableOf(text) {
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const cell = (/** @type {string} */ value) => value.replaceAll('|', '\\|');
  return [
    '| fault | action | observation |',
    '|---|---|---|',
    ...rows.map(({ what, done, seen }) => `| ${cell(what)} | ${cell(done)} | ${cell(seen)} |`),
  ].join('\n');
}
