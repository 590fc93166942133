import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ask } from './child.mjs';
import { findProgram, isExecutable } from './machine.mjs';

/** The oldest Postgres that Callway supports. */
export const MINIMUM_POSTGRES_MAJOR = 15;

/**
 * Where packages put the server's programs when they are not on PATH: one folder a version.
 * `*` stands for the one path element that names the version.
 */
const VERSIONED_FOLDERS = [
  '/usr/lib/postgresql/*/bin', // Debian, Ubuntu
  '/usr/libexec/*', // Alpine: postgresql16
  '/usr/*/bin', // The PostgreSQL project's packages for Fedora and its kin: pgsql-16
  '/opt/homebrew/opt/*/bin', // Homebrew on Apple silicon: postgresql@17
  '/usr/local/opt/*/bin', // Homebrew on Intel
];

/**
 * One Postgres server on this machine.
 *
 * @typedef {object} PostgresInstallation
 * @property {string} bin - The folder of `initdb` and `postgres`.
 * @property {number} major
 * @property {boolean} hasVector - Whether `CREATE EXTENSION vector` will find its files.
 */

/**
 * The server that the tests run on: one with pgvector before one without, then the newest.
 *
 * @returns {PostgresInstallation | undefined} Nothing when there is none that is recent enough.
 */
export function findPostgres() {
  return choosePostgres(serverFolders().map(inspect));
}

/**
 * @param {PostgresInstallation[]} found
 * @returns {PostgresInstallation | undefined}
 */
export function choosePostgres(found) {
  return found
    .filter(({ major }) => major >= MINIMUM_POSTGRES_MAJOR)
    .sort((a, b) => Number(b.hasVector) - Number(a.hasVector) || b.major - a.major)[0];
}

/** @returns {string[]} */
function serverFolders() {
  const onPath = findProgram('postgres');
  const folders = VERSIONED_FOLDERS.flatMap(expand).filter((folder) => /postgresql|pgsql/.test(folder));
  return [...new Set(onPath ? [...folders, dirname(onPath)] : folders)].filter(
    (folder) => isExecutable(join(folder, 'postgres')) && isExecutable(join(folder, 'initdb')),
  );
}

/** @param {string} pattern */
function expand(pattern) {
  const [before = '', after = ''] = pattern.split('*');
  if (!existsSync(before)) return [];
  return readdirSync(before).map((name) => `${before}${name}${after}`);
}

/**
 * @param {string} bin
 * @returns {PostgresInstallation}
 */
function inspect(bin) {
  const major = Number(/(\d+)/.exec(ask(join(bin, 'postgres'), ['--version']))?.[1] ?? 0);
  const hasVector = shareFolders(bin, major).some((folder) =>
    existsSync(join(folder, 'extension', 'vector.control')),
  );
  return { bin, major, hasVector };
}

/**
 * Where the server looks for extensions. `pg_config` knows, but many packages leave it to their development part.
 *
 * @param {string} bin
 * @param {number} major
 */
function shareFolders(bin, major) {
  const answer = ask(join(bin, 'pg_config'), ['--sharedir']);
  if (answer) return [answer];
  const prefix = dirname(bin);
  return [
    join(prefix, 'share', 'postgresql'),
    join(prefix, 'share', basename(prefix)),
    join(prefix, 'share'),
    join('/usr/share/postgresql', String(major)),
    join('/usr/share', `postgresql${major}`),
  ];
}
