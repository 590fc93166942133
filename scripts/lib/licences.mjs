import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

/** Packages whose manifest names no licence, and where it is. */
const NAMED_ELSEWHERE = new Map([
  ['only', 'MIT (in its Readme)'],
  ['@msgpackr-extract/*', 'MIT (of msgpackr-extract)'],
]);
/** Licences whose notice must be distributed with the program, beyond what MIT and BSD-2/3 ask. */
const NOTICE_WANTED = new Set(['BSD-4-Clause']);
const LICENCE_FILE = /^(copying|licen[cs]e)(\.(md|txt))?$/i;

/**
 * @typedef {{ name: string, version: string, licence: string }} Package
 */

/**
 * The packages of a lock file that are not for development, by name.
 *
 * @param {{ packages: Record<string, { version?: string, license?: string, dev?: boolean, link?: boolean }> }} lock
 * @returns {Package[]}
 */
function productionPackages(lock) {
  const found = new Map();
  for (const [path, { version = '', license, dev, link }] of Object.entries(lock.packages)) {
    const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? [];
    if (name === undefined || dev || link) continue;
    found.set(`${name} ${version}`, { name, version, licence: license ?? elsewhere(name) ?? 'unknown' });
  }
  return [...found.values()].sort((one, other) =>
    one.name < other.name ? -1 : one.name > other.name ? 1 : 0,
  );
}

/** @param {string} name */
function elsewhere(name) {
  return NAMED_ELSEWHERE.get(name) ?? NAMED_ELSEWHERE.get(name.replace(/\/.*$/, '/*'));
}

/**
 * The page docs/licences.md.
 *
 * @param {Package[]} packages
 */
export function licencePage(packages) {
  const counts = new Map();
  for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const summary = [...counts].sort(([, one], [, other]) => other - one);
  return [
    '# Licences of the dependencies',
    '',
    'Written by `npm run licences` from the lock files: every package that the service and its console run with. The notices that',
    'have to be passed on with the program are in [NOTICE](../NOTICE). `npm run sbom` prints a bill of materials (CycloneDX).',
    '',
    '| Licence | Packages |',
    '|---|---|',
    ...summary.map(([licence, count]) => `| ${licence} | ${count} |`),
    '',
    '| Package | Version | Licence |',
    '|---|---|---|',
    ...packages.map(({ name, version, licence }) => `| \`${name}\` | ${version} | ${licence} |`),
    '',
  ].join('\n');
}

/**
 * The file NOTICE: the texts of licences that ask for it.
 *
 * @param {Package[]} packages
 */
export function noticeFile(packages) {
  const wanted = packages.filter(({ licence }) => NOTICE_WANTED.has(licence));
  const texts = wanted.map(
    ({ name, version }) => `${name} ${version}\n${'='.repeat(72)}\n\n${licenceText(name).trim()}\n`,
  );
  return `Callway runs with the following packages, whose licences ask for their notice.\n\n${texts.join('\n')}`;
}

/** @param {string} name */
function licenceText(name) {
  const folder = join(root, 'node_modules', name);
  const file = existsSync(folder) ? readdirSync(folder).find((one) => LICENCE_FILE.test(one)) : undefined;
  if (file === undefined) throw new Error(`${name} has no licence file in node_modules; run npm ci`);
  return readFileSync(join(folder, file), 'utf8');
}

/** Of the service and of its console, whose built files hold its packages. */
export function deliveredPackages() {
  const all = ['package-lock.json', join('console', 'package-lock.json')].flatMap((file) =>
    productionPackages(JSON.parse(readFileSync(join(root, file), 'utf8'))),
  );
  const byName = new Map(all.map((one) => [`${one.name} ${one.version}`, one]));
  return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}
