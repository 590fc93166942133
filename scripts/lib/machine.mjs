import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * What decides how a system package gets onto this machine.
 *
 * @typedef {object} Machine
 * @property {boolean} isRoot
 * @property {'apt' | 'dnf' | 'apk' | 'brew' | undefined} manager
 * @property {string} codename - The Debian or Ubuntu release: `bookworm`; empty elsewhere.
 * @property {string} distribution - `ID` of os-release: `debian`; empty elsewhere.
 */

const MANAGERS = /** @type {const} */ ({ apt: 'apt-get', dnf: 'dnf', apk: 'apk', brew: 'brew' });

/** @returns {Machine} */
export function readMachine() {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const names = /** @type {(keyof typeof MANAGERS)[]} */ (Object.keys(MANAGERS));
  return {
    isRoot: process.getuid?.() === 0,
    manager: names.find((name) => findProgram(MANAGERS[name])),
    codename: releaseField(release, 'VERSION_CODENAME'),
    distribution: releaseField(release, 'ID'),
  };
}

/**
 * @param {string} name
 * @param {string[]} [others] - Folders that are looked through after those of PATH.
 * @returns {string | undefined} The program's path.
 */
export function findProgram(name, others = []) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return [...folders, ...others].map((folder) => join(folder, name)).find(isExecutable);
}

/** @param {string} path */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} release - The text of os-release.
 * @param {string} field
 */
function releaseField(release, field) {
  const match = new RegExp(`^${field}=(.*)$`, 'm').exec(release);
  return (match?.[1] ?? '').replaceAll(/^["']|["']$/g, '');
}
