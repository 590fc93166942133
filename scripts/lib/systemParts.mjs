import { aptCandidate, aptInstall, aptUpdate } from './apt.mjs';
import { lockPath, withLock } from './lock.mjs';
import { findProgram, readMachine } from './machine.mjs';
import { buildPgvector } from './pgvectorBuild.mjs';
import { findPostgres, MINIMUM_POSTGRES_MAJOR } from './postgresInstallation.mjs';
import { Stop } from './stop.mjs';

/** @typedef {import('./machine.mjs').Machine} Machine */

/**
 * System programs that npm cannot install.
 *
 * @typedef {'redis' | 'postgres' | 'pgvector' | 'pocketsphinx' | 'sipp' | 'kamailio' | 'baresip' | 'promtool' | 'chromium'} Part
 */

/** @type {Record<Part, string>} */
const TITLES = {
  redis: 'redis-server',
  postgres: `Postgres ${MINIMUM_POSTGRES_MAJOR} or later`,
  pgvector: 'pgvector',
  pocketsphinx: 'pocketsphinx with its English model',
  sipp: 'SIPp',
  kamailio: 'Kamailio',
  baresip: 'baresip',
  promtool: 'promtool',
  chromium: 'Chromium',
};

/** SIP programs that the tests run against. @type {Part[]} */
export const SIP_PEERS = ['sipp', 'kamailio', 'baresip'];

/** Names in older and newer releases. */
const PROGRAMS_OF_POCKETSPHINX = ['pocketsphinx_continuous', 'pocketsphinx'];
/** Chromium without a window. Debian has it apart from the browser. */
const CHROMIUM_SHELL = 'chromium-headless-shell';
/** The shell takes a third less processor time; the browser's names are those of distributions. */
export const PROGRAMS_OF_CHROMIUM = [CHROMIUM_SHELL, 'chromium', 'chromium-browser', 'google-chrome'];

/**
 * Commands for package managers that Callway does not run itself. A part without a package must be installed by hand.
 *
 * @type {Record<'dnf' | 'apk' | 'brew', { command: string, packages: Partial<Record<Part, string>> }>}
 */
const BY_HAND = {
  dnf: {
    command: 'sudo dnf install -y',
    packages: {
      redis: 'redis',
      postgres: 'postgresql-server',
      pgvector: 'pgvector',
      pocketsphinx: 'pocketsphinx pocketsphinx-models',
      sipp: 'sipp',
      kamailio: 'kamailio',
      baresip: 'baresip',
      promtool: 'golang-github-prometheus',
      chromium: 'chromium',
    },
  },
  apk: {
    command: 'apk add',
    packages: {
      redis: 'redis',
      postgres: 'postgresql',
      pgvector: 'postgresql-pgvector',
      pocketsphinx: 'pocketsphinx',
      sipp: 'sipp',
      kamailio: 'kamailio',
      baresip: 'baresip',
      promtool: 'prometheus',
      chromium: 'chromium',
    },
  },
  brew: {
    command: 'brew install',
    packages: {
      redis: 'redis',
      postgres: 'postgresql@17',
      pgvector: 'pgvector',
      pocketsphinx: 'cmu-pocketsphinx',
      sipp: 'sipp',
      baresip: 'baresip',
      promtool: 'prometheus',
      chromium: '--cask chromium',
    },
  },
};

/**
 * Installs missing parts when possible (apt, as root).
 *
 * @param {Part[]} parts
 * @param {{ purpose: string, instead: string }} wording - `purpose`: what needs them; `instead`: an alternative.
 * @throws {Stop} When they must be installed by hand; contains the command.
 */
export async function ensureSystemParts(parts, { purpose, instead }) {
  if (missingOf(parts).length === 0) return;
  const machine = readMachine();
  if (machine.manager !== 'apt' || !machine.isRoot) {
    const missing = missingOf(parts);
    const titles = missing.map((part) => TITLES[part]).join(', ');
    throw new Stop(
      `${purpose} lacks ${titles}. ${installationAdvice(missing, machine, postgresMajor())}\n${instead}`,
    );
  }
  await withLock(lockPath('apt'), () => installWithApt(missingOf(parts), machine));
}

/**
 * Installs missing optional parts when possible; otherwise prints how to install them and continues.
 *
 * @param {Part[]} parts
 * @param {{ without: string }} wording - What does not work without them.
 */
export async function wantSystemParts(parts, { without }) {
  try {
    await ensureSystemParts(parts, { purpose: 'This machine', instead: without });
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    console.error(error.message);
  }
}

/**
 * How to install the parts on this machine.
 *
 * @param {Part[]} missing
 * @param {Machine} machine
 * @param {number} major - Of the selected Postgres.
 * @param {(name: string) => boolean} [hasPackage] - Whether apt knows a package.
 */
export function installationAdvice(
  missing,
  machine,
  major,
  hasPackage = (name) => aptCandidate(name) !== '',
) {
  const { manager } = machine;
  if (!manager) return 'Install them so that PATH finds them.';
  if (manager !== 'apt') {
    const { command, packages } = BY_HAND[manager];
    const names = missing.flatMap((part) => packages[part] ?? []);
    const others = missing.filter((part) => packages[part] === undefined).map((part) => TITLES[part]);
    const byHand = others.length > 0 ? `\n${manager} has no package of ${others.join(', ')}.\n` : '';
    return names.length > 0 ? `Install with:\n\n  ${command} ${names.join(' ')}\n${byHand}` : byHand;
  }
  const names = aptPackages(missing, major);
  const command =
    major >= MINIMUM_POSTGRES_MAJOR && names.every(hasPackage)
      ? `sudo apt-get install -y ${names.join(' ')}`
      : `sudo ${process.execPath} scripts/run.mjs install`;
  return `Install with:\n\n  ${command}\n`;
}

/**
 * @param {Part[]} missing
 * @param {number} major
 */
export function aptPackages(missing, major) {
  const names = {
    redis: 'redis-server',
    postgres: `postgresql-${major}`,
    pgvector: `postgresql-${major}-pgvector`,
    pocketsphinx: 'pocketsphinx pocketsphinx-en-us',
    sipp: 'sip-tester',
    kamailio: 'kamailio',
    baresip: 'baresip-core',
    promtool: 'prometheus',
    chromium: missing.includes('chromium') && aptCandidate(CHROMIUM_SHELL) ? CHROMIUM_SHELL : 'chromium',
  };
  return missing.flatMap((part) => names[part].split(' '));
}

/** @param {Part[]} parts */
function missingOf(parts) {
  const postgres = parts.includes('postgres') || parts.includes('pgvector') ? findPostgres() : undefined;
  const isPresent = {
    redis: () => findProgram('redis-server') !== undefined,
    postgres: () => postgres !== undefined,
    pgvector: () => postgres?.hasVector === true,
    pocketsphinx: () => PROGRAMS_OF_POCKETSPHINX.some((name) => findProgram(name) !== undefined),
    sipp: () => findProgram('sipp') !== undefined,
    // Its package installs it into /usr/sbin.
    kamailio: () => findProgram('kamailio', ['/usr/sbin']) !== undefined,
    baresip: () => findProgram('baresip') !== undefined,
    promtool: () => findProgram('promtool') !== undefined,
    chromium: () => PROGRAMS_OF_CHROMIUM.some((name) => findProgram(name) !== undefined),
  };
  return parts.filter((part) => !isPresent[part]());
}

/**
 * @param {Part[]} missing
 * @param {Machine} machine
 */
async function installWithApt(missing, machine) {
  if (missing.length === 0) return;
  console.error(
    `Installing with apt: ${missing.map((part) => TITLES[part]).join(', ')}. This takes a minute, once.`,
  );
  await aptUpdate();
  const major = postgresMajor();
  if (missing.includes('postgres') && major < MINIMUM_POSTGRES_MAJOR) {
    throw new Stop(
      `Callway requires Postgres ${MINIMUM_POSTGRES_MAJOR} or later and apt has ${major || 'none'}. Add the PostgreSQL project's package source (https://www.postgresql.org/download/), or set TEST_DATABASE_URL.`,
    );
  }
  const mustBuild = missing.includes('pgvector') && !aptCandidate(`postgresql-${major}-pgvector`);
  const packages = aptPackages(
    missing.filter((part) => part !== 'pgvector' || !mustBuild),
    major,
  );
  if (packages.length > 0) await aptInstall(packages);
  const postgres = mustBuild ? findPostgres() : undefined;
  if (postgres) await buildPgvector(postgres, machine.codename);
  const remaining = missingOf(missing);
  if (remaining.length > 0) throw new Stop(`Still missing after the installation: ${remaining.join(', ')}.`);
}

/** Major version of the installed Postgres, or of the one that apt would install; 0 without either. */
function postgresMajor() {
  const here = findPostgres()?.major;
  if (here !== undefined) return here;
  return Number(/^(\d+)/.exec(aptCandidate('postgresql'))?.[1] ?? 0);
}
