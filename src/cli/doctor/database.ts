import { isOfOtherBuild, type Migration } from '../../infra/postgres/connection/migrate.ts';
import type { DatabaseFacts } from '../../infra/postgres/connection/probe.ts';
import { failureReason } from '../connectionFailure.ts';
import { type Finding, fail, ok, shownAddress, warn } from './finding.ts';

const NAME = 'database';
const MINIMUM_MAJOR = 15;

export interface DatabaseCheckDeps {
  readonly probe: (url: string) => Promise<DatabaseFacts>;
  readonly migrations: readonly Migration[];
}

export interface DatabaseFindings {
  readonly findings: Finding[];
  /** Fingerprint of the key that sealed the stored secrets; undefined when the database could not be queried. */
  readonly sealedWith: string | undefined;
}

/** Checks the Postgres server of DATABASE_URL; the embedded database needs no check. */
export async function checkDatabase(
  url: string | undefined,
  deps: DatabaseCheckDeps,
): Promise<DatabaseFindings> {
  if (url === undefined) {
    const findings = [ok(NAME, 'embedded, in DATA_DIR; migrated at each start')];
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
      `${shownAddress(url)} cannot be used (${failureReason(error)})`,
      'Check DATABASE_URL, and that the server runs and accepts connections from this machine.',
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
      return ok(name, 'installed in the database');
    case 'missing':
      return fail(
        name,
        'is not installed on the server',
        'Install pgvector 0.8 or later on the database server.',
      );
    case 'available':
      return isSuperuser
        ? ok(name, 'available on the server; the first start installs it in the database')
        : warn(
            name,
            'is available on the server but not installed in the database, and this role may lack the permission to install it',
            'Run CREATE EXTENSION vector in the database as a superuser.',
          );
  }
}

function checkMigrations(done: DatabaseFacts['migrations'], known: readonly Migration[]): Finding {
  const name = 'migrations';
  if (done && isOfOtherBuild(done, known)) {
    return fail(
      name,
      'were run by an unreleased build of Callway',
      'Set DATABASE_URL to a new database: only the build that made this one can use it.',
    );
  }
  const pending = known.filter(({ version }) => !done?.has(version)).length;
  if (pending > 0) return ok(name, `${pending} of ${known.length} will run at the next start`);
  const newer = Math.max(0, ...(done?.keys() ?? [])) - known.length;
  if (newer > 0) {
    return warn(
      name,
      `the database has ${newer} migrations that this release does not know`,
      'Upgrade this node to the release of the newer nodes.',
    );
  }
  return ok(name, `all ${known.length} have been run`);
}
