import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';
import { lockPath, withLock } from './lock.mjs';
import { root } from './paths.mjs';

const STAMP = '.callway-stamp';
/** Inputs of the build. */
const SOURCES = ['src', 'sip', 'offline', 'package-lock.json', 'tsconfig.json'];

/**
 * Folder of the build and how to compile into it; replaced in tests.
 *
 * @typedef {{ folder: string, compile: (outDir: string) => Promise<{ ok: boolean, output: string }> }} Place
 */

/** @type {Place} */
const OWN = { folder: root, compile: bundle };

/**
 * Path of the compiled service, compiled again when its sources have changed: a bundle starts much faster than a
 * loader that compiles each file.
 *
 * @param {Place} [place]
 * @returns {Promise<string | undefined>} Undefined when it cannot be compiled, without a compiler or after an error.
 */
export async function freshBuild(place = OWN) {
  const dist = join(place.folder, 'dist');
  const main = join(dist, 'src', 'main.js');
  // A concurrent process waits for this build and uses it.
  return await withLock(lockPath(dist), async () => {
    const state = stateOfSources(place.folder);
    if (readStamp(dist) === state && existsSync(main)) return main;
    const { ok } = await build(place, state);
    return ok ? main : undefined;
  });
}

/**
 * Compiles the service and the SIP server into dist/. The previous build is replaced atomically, so that a concurrent
 * start finds a complete one.
 *
 * @param {Place} [place]
 * @param {string} [state]
 */
export async function build(place = OWN, state = stateOfSources(place.folder)) {
  const dist = join(place.folder, 'dist');
  const draft = `${dist}-${process.pid}`;
  try {
    const result = await place.compile(draft);
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
 * @param {string} folder
 */
function stateOfSources(folder) {
  const hash = createHash('sha256').update(process.versions.node);
  for (const path of SOURCES.flatMap((name) => filesIn(folder, name)).sort()) {
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
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(name, file));
}

/** @param {string} dist */
function readStamp(dist) {
  const file = join(dist, STAMP);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
