import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { lockPath, withLock } from './lock.mjs';

const STAMP = '.callway-stamp';
/** Folders in which nothing is a source. */
const OUTPUTS = /^(node_modules|dist(-\d+)?)$/;

/** @typedef {(outDir: string) => Promise<{ ok: boolean, output: string }>} Compile */

/**
 * What is compiled from what, into `dist/` of the folder.
 *
 * @typedef {object} Plan
 * @property {string} folder
 * @property {readonly string[]} sources - Files and folders in it that the build depends on.
 * @property {string} entry - In `dist/`; a build without it is compiled again.
 * @property {Compile} compile
 */

/**
 * Compiles when the sources have changed since the last time.
 *
 * @param {Plan} plan
 * @returns {Promise<string | undefined>} Path of the entry; undefined when it cannot be compiled.
 */
export async function freshBuildOf(plan) {
  const dist = join(plan.folder, 'dist');
  const entry = join(dist, plan.entry);
  // A concurrent process waits for this build and uses it.
  return await withLock(lockPath(dist), async () => {
    const state = stateOfSources(plan);
    if (readStamp(dist) === state && existsSync(entry)) return entry;
    const { ok } = await buildFrom(plan, state);
    return ok ? entry : undefined;
  });
}

/**
 * Replaces the previous build atomically, so that a concurrent start finds a complete one.
 *
 * @param {Plan} plan
 * @param {string} [state]
 */
export async function buildFrom(plan, state = stateOfSources(plan)) {
  const dist = join(plan.folder, 'dist');
  const draft = `${dist}-${process.pid}`;
  try {
    const result = await plan.compile(draft);
    if (!result.ok) return result;
    writeFileSync(join(draft, STAMP), state);
    rmSync(dist, { recursive: true, force: true });
    renameSync(draft, dist);
    return result;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * A digest that changes when a file is added, removed or written.
 *
 * @param {Plan} plan
 */
function stateOfSources({ folder, sources }) {
  const hash = createHash('sha256').update(process.versions.node);
  for (const path of sources.flatMap((name) => filesIn(folder, name)).sort()) {
    const { size, mtimeMs } = statSync(join(folder, path));
    hash.update(`\n${path} ${size} ${mtimeMs}`);
  }
  return hash.digest('hex');
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {string[]}
 */
function filesIn(folder, name) {
  const path = join(folder, name);
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [name];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !file.endsWith('.md') && !file.split(sep).some((part) => OUTPUTS.test(part)));
}

/** @param {string} dist */
function readStamp(dist) {
  const file = join(dist, STAMP);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
