import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptGet, aptInstall } from './apt.mjs';
import { ask, runCaptured } from './child.mjs';
import { Stop } from './stop.mjs';

/** The oldest Debian release that has pgvector 0.8, which Callway's searches need. */
const SOURCE_RELEASE = 'trixie';

/** Debian's own keys, which sign every release. */
const DEBIAN_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Builds pgvector for a Debian that has no package of it, from the source of a later Debian release. That release is
 * asked in a package list of its own, so that nothing else of this machine comes from there.
 *
 * @param {{ bin: string, major: number }} postgres - The server to build for.
 * @param {string} codename - This machine's release.
 * @throws {Stop} When a step fails.
 */
export async function buildPgvector({ bin, major }, codename) {
  await aptInstall(['build-essential', `postgresql-server-dev-${major}`]);
  const folder = mkdtempSync(join(tmpdir(), 'callway-pgvector-'));
  try {
    await fetchSource(folder, debianMirror(codename));
    const archive = readdirSync(folder).find((name) => name.includes('.orig.tar.'));
    if (!archive) throw new Stop('apt-get source brought no archive of pgvector.');
    await step('tar', ['-xf', join(folder, archive), '-C', folder, '--strip-components=1']);
    const make = ['-s', '-C', folder, `PG_CONFIG=${join(bin, 'pg_config')}`];
    await step('make', [...make, 'OPTFLAGS=', 'with_llvm=no']);
    await step('make', [...make, 'with_llvm=no', 'install']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The line of an apt source list for the release that has the source.
 *
 * @param {string} targets - Lines `URI CODENAME COMPONENT`, as apt tells them of this machine's own sources.
 * @param {string} codename - This machine's release.
 * @returns {string} Empty when no source of this machine serves its release.
 */
export function sourceLine(targets, codename) {
  const fields = targets.split('\n').map((line) => line.split(' '));
  const own = fields.find(([, release, component]) => release === codename && component === 'main');
  return own ? `deb-src [signed-by=${DEBIAN_KEYRING}] ${own[0]} ${SOURCE_RELEASE} main\n` : '';
}

/**
 * apt itself tells where the release comes from, however the sources are written down.
 *
 * @param {string} codename
 */
function debianMirror(codename) {
  const format = '$(REPO_URI) $(CODENAME) $(COMPONENT)';
  const targets = ask('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
  const line = sourceLine(targets, codename);
  if (!line)
    throw new Stop(`No apt source of this machine serves "${codename} main", so pgvector cannot be built.`);
  return line;
}

/**
 * @param {string} folder
 * @param {string} line
 */
async function fetchSource(folder, line) {
  const lists = join(folder, 'apt', 'lists');
  const cache = join(folder, 'apt', 'cache');
  for (const path of [join(lists, 'partial'), join(cache, 'archives', 'partial')]) {
    mkdirSync(path, { recursive: true });
  }
  const sourceList = join(folder, 'apt', 'sources.list');
  writeFileSync(sourceList, line);
  const options = [
    `Dir::Etc::sourcelist=${sourceList}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${cache}`,
    'APT::Sandbox::User=root', // the folder is closed to apt's own user
  ].flatMap((option) => ['-o', option]);
  await aptGet([...options, 'update']);
  await aptGet([...options, 'source', '--download-only', 'pgvector'], folder);
}

/**
 * @param {string} program
 * @param {string[]} args
 */
async function step(program, args) {
  const { ok, output } = await runCaptured(program, args);
  if (!ok) throw new Stop(`${output}Building pgvector failed at ${program}; the lines above tell why.`);
}
