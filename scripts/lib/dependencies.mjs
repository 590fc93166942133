import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAttached } from './child.mjs';
import { lockPath, withLock } from './lock.mjs';
import { root } from './paths.mjs';
import { Stop } from './stop.mjs';

/** In node_modules, so that it is removed together with that folder. */
const STAMP_FILE = '.callway-stamp';

/**
 * Runs `npm ci` when node_modules does not match package-lock.json.
 *
 * @param {{ folder?: string, install?: () => Promise<void> }} [options]
 * @throws {Stop} When node_modules is a symbolic link: `npm ci` would empty the folder that it points to.
 */
export async function ensureDependencies({ folder = root, install = () => npmCi(folder) } = {}) {
  if (!whyInstall(folder)) return;
  await withLock(lockPath(folder), async () => {
    const reason = whyInstall(folder);
    if (!reason) return;
    refuseLink(join(folder, 'node_modules'));
    console.error(
      `Installing dependencies with npm ci: ${folder === root ? reason : `${folder}: ${reason}`}.`,
    );
    await install();
    writeStamp(folder);
  });
}

/**
 * @param {string} folder
 * @returns {string} Why an installation is needed; empty when it is not.
 */
export function whyInstall(folder) {
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) return 'node_modules does not exist';
  const stampPath = join(modules, STAMP_FILE);
  if (existsSync(stampPath)) {
    const isCurrent = readFileSync(stampPath, 'utf8') === stampOf(folder);
    return isCurrent ? '' : 'package-lock.json, Node or the platform has changed';
  }
  if (!holdsLockedVersions(folder)) return 'node_modules does not match package-lock.json';
  writeStamp(folder);
  return '';
}

/** @param {string} modules */
function refuseLink(modules) {
  if (!lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new Stop(
    `${modules} is a symbolic link, and npm ci would empty the folder that it points to. Remove the link, or update the dependencies of that folder.`,
  );
}

/** @param {string} folder */
function writeStamp(folder) {
  writeFileSync(join(folder, 'node_modules', STAMP_FILE), stampOf(folder));
}

/** @param {string} folder */
function stampOf(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex');
  const [major] = process.versions.node.split('.');
  return `${digest} node-${major} ${process.platform}-${process.arch}\n`;
}

/**
 * Whether node_modules, installed by other means, has the locked versions according to npm's own record. Optional
 * packages may be missing: npm skips those of other platforms.
 *
 * @param {string} folder
 */
function holdsLockedVersions(folder) {
  const recordPath = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(recordPath)) return false;
  const present = readPackages(recordPath);
  return Object.entries(readPackages(join(folder, 'package-lock.json'))).every(
    ([path, wanted]) =>
      path === '' || wanted.optional || wanted.devOptional || present[path]?.version === wanted.version,
  );
}

/**
 * @param {string} path
 * @returns {Record<string, { version?: string, optional?: boolean, devOptional?: boolean }>}
 */
function readPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages ?? {};
}

/** Includes development packages with any NODE_ENV: tests and checks need them. @param {string} folder */
async function npmCi(folder) {
  const npm = process.env.npm_execpath;
  const args = ['ci', '--include=dev', '--no-progress'];
  const { code } = npm?.endsWith('.js')
    ? await runAttached(process.execPath, [npm, ...args], { cwd: folder })
    : await runAttached('npm', args, { cwd: folder });
  if (code !== 0) throw new Stop('npm ci failed; see the lines above.');
}
