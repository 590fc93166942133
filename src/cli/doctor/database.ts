import type { Migration } from '../../infra/postgres/connection/migrate.ts';
import type { DatabaseFacts } from '../../infra/postgres/connection/probe.ts';
import { reasonOf } from '../reason.ts';
import { type Finding, fail, ok, shownAddress, warn } from './finding.ts';

const NAME = 'database';
const MINIMUM_MAJOR = 15;

export interface DatabaseCheckDeps {
  readonly probe: (url: string) => Promise<DatabaseFacts>;
  readonly migrations: readonly Migration[];
}

export interface DatabaseFindings {
  readonly findings: Finding[];
  /** Of the key that the secrets in it were sealed with, where it could be asked. */
  readonly sealedWith: string | undefined;
}

/** Whether the server that DATABASE_URL names will do; without it the embedded one needs nothing. */
export async function checkDatabase(
  url: string | undefined,
  deps: DatabaseCheckDeps,
): Promise<DatabaseFindings> {
  if (url === undefined) {
    const findings = [ok(NAME, 'embedded, in DATA_DIR; brought up to date at each start')];
    return { findings, sealedWith: undefined };
  }
  try {
    const facts = await deps.probe(url);
    const findings = [
      checkVersion(shownAddress(url), facts),
      checkVector(facts),
      checkMigrations(facts.migrations, deps.migrations),
    ];
    return { findings, sealedWith: facts.sealerFingerprint };
  } catch (error) {
    const finding = fail(
      NAME,
      `${shownAddress(url)} cannot be used (${reasonOf(error)})`,
      'Check DATABASE_URL, and that the server runs and lets this machine in.',
    );
    return { findings: [finding], sealedWith: undefined };
  }
}

function checkVersion(shown: string, { version, majorVersion }: DatabaseFacts): Finding {
  return majorVersion >= MINIMUM_MAJOR
    ? ok(NAME, `${shown}, Postgres ${version}`)
    : fail(NAME, `${shown} runs Postgres ${version}`, `Upgrade it to ${MINIMUM_MAJOR} or later.`);
}

function checkVector({ vector, isSuperuser }: DatabaseFacts): Finding {
  const name = 'pgvector';
  switch (vector) {
    case 'installed':
      return ok(name, 'in the database');
    case 'missing':
      return fail(name, 'is not on the server', 'Install pgvector 0.8 or later on the database server.');
    case 'available':
      return isSuperuser
        ? ok(name, 'on the server; the first start puts it into the database')
        : warn(
            name,
            'is on the server, but not in the database, and this role may not be allowed to put it there',
            'Run CREATE EXTENSION vector in the database as its superuser.',
          );
  }
}

function checkMigrations(done: DatabaseFacts['migrations'], known: readonly Migration[]): Finding {
  const name = 'migrations';
  const changed = known.find(({ version, checksum }) => (done?.get(version) ?? checksum) !== checksum);
  if (changed) {
    return fail(
      name,
      `number ${changed.version} (${changed.name}) was run with another content`,
      'This database belongs to another edition of Callway: install that one, or name another database.',
    );
  }
  const pending = known.filter(({ version }) => !done?.has(version)).length;
  if (pending > 0) return ok(name, `${pending} of ${known.length} will be run at the next start`);
  const newer = Math.max(0, ...(done?.keys() ?? [])) - known.length;
  if (newer > 0) {
    return warn(
      name,
      `the database is ${newer} ahead of this release`,
      'Upgrade this node once all is well with the newer ones.',
    );
  }
  return ok(name, `all ${known.length} have been run`);
}
