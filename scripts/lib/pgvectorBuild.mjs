import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptGet, aptInstall } from './apt.mjs';
import { ask, runCaptured } from './child.mjs';
import { Stop } from './stop.mjs';

/** The oldest Debian release with pgvector 0.8, which the vector search needs. */
const SOURCE_RELEASE = 'trixie';

/** Debian's keys, which sign every release. */
const DEBIAN_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Builds pgvector for a Debian release without a package, from the source package of a later release. A separate
 * package list is used, so that nothing else is installed from that release.
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
    if (!archive) throw new Stop('apt-get source downloaded no archive of pgvector.');
    await step('tar', ['-xf', join(folder, archive), '-C', folder, '--strip-components=1']);
    const make = ['-s', '-C', folder, `PG_CONFIG=${join(bin, 'pg_config')}`];
    await step('make', [...make, 'OPTFLAGS=', 'with_llvm=no']);
    await step('make', [...make, 'with_llvm=no', 'install']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The apt source line of the release with the source package.
 *
 * @param {string} targets - Lines `URI CODENAME COMPONENT` of this machine's apt sources.
 * @param {string} codename - This machine's release.
 * @returns {string} Empty when no source serves this machine's release.
 */
export function sourceLine(targets, codename) {
  const fields = targets.split('\n').map((line) => line.split(' '));
  const own = fields.find(([, release, component]) => release === codename && component === 'main');
  return own ? `deb-src [signed-by=${DEBIAN_KEYRING}] ${own[0]} ${SOURCE_RELEASE} main\n` : '';
}

/**
 * Asks apt, which knows all formats of source lists.
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
    'APT::Sandbox::User=root', // apt's own user cannot read the folder
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
  if (!ok) throw new Stop(`${output}Building pgvector failed at ${program}; see the lines above.`);
}
