import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ask } from './child.mjs';
import { findProgram, isExecutable } from './machine.mjs';

/** The oldest supported version of Postgres. */
export const MINIMUM_POSTGRES_MAJOR = 15;

/**
 * Folders of the server programs that are not on PATH, one for each version. `*` is the path element with the
 * version.
 */
const VERSIONED_FOLDERS = [
  '/usr/lib/postgresql/*/bin', // Debian, Ubuntu
  '/usr/libexec/*', // Alpine: postgresql16
  '/usr/*/bin', // packages of the PostgreSQL project for Fedora: pgsql-16
  '/opt/homebrew/opt/*/bin', // Homebrew on Apple silicon: postgresql@17
  '/usr/local/opt/*/bin', // Homebrew on Intel
];

/**
 * A Postgres server on this machine.
 *
 * @typedef {object} PostgresInstallation
 * @property {string} bin - Folder of `initdb` and `postgres`.
 * @property {number} major
 * @property {boolean} hasVector - Whether pgvector is installed.
 */

/**
 * Selects the server for the tests: with pgvector first, then the newest.
 *
 * @returns {PostgresInstallation | undefined} Undefined when none is recent enough.
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
 * The server's extension folders. `pg_config` knows them, but is often in a separate development package.
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
