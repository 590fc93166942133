import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * How system packages are installed on this machine.
 *
 * @typedef {object} Machine
 * @property {boolean} isRoot
 * @property {'apt' | 'dnf' | 'apk' | 'brew' | undefined} manager
 * @property {string} codename - The Debian or Ubuntu release, such as `bookworm`; empty elsewhere.
 * @property {string} distribution - `ID` of os-release, such as `debian`; empty elsewhere.
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
 * @param {string[]} [others] - Folders searched after PATH.
 * @returns {string | undefined} Path of the program.
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
 * @param {string} release - Text of os-release.
 * @param {string} field
 */
function releaseField(release, field) {
  const match = new RegExp(`^${field}=(.*)$`, 'm').exec(release);
  return (match?.[1] ?? '').replaceAll(/^["']|["']$/g, '');
}
