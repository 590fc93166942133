import { join } from 'node:path';
import type { Command } from 'commander';
import { type Config, loadConfig } from '../../app/settings/config.ts';
import { readSecretsKey } from '../../app/settings/keptSecret.ts';
import { createSealer } from '../../base/sealer.ts';
import { FolderLockedError, lockFolder } from '../../infra/files/folderLock.ts';
import type { Database } from '../../infra/postgres/connection/database.ts';
import { openEmbedded } from '../../infra/postgres/connection/embedded.ts';
import { openPostgres } from '../../infra/postgres/connection/postgres.ts';
import { resealSecrets, UnreadableSecretError } from '../../infra/postgres/secrets/reseal.ts';
import { CommandError, EXIT } from '../commandError.ts';
import type { CliContext } from '../context.ts';

export function secretsCommands(program: Command, context: CliContext): void {
  const group = program.command('secrets').description('look after stored secrets');

  group
    .command('reseal')
    .description(
      'seal all stored secrets with SECRETS_KEY, those of SECRETS_KEY_PREVIOUS too; on the database of the settings',
    )
    .action(async () => {
      const config = loadConfig(context.environment);
      const key = await readSecretsKey(config);
      if (!key) {
        throw new CommandError(
          EXIT.configuration,
          `There is no SECRETS_KEY, nor a secrets-key in ${config.DATA_DIR}.`,
        );
      }
      const sealer = createSealer(key, config.SECRETS_KEY_PREVIOUS);
      const rows = await withDatabase(config, async (database) => {
        await requireStarted(database);
        return await resealSecrets(database, sealer);
      }).catch(explain);
      context.write(`All secrets are sealed with SECRETS_KEY now; ${rows} rows were looked at.\n`);
      context.write('Keys of SECRETS_KEY_PREVIOUS are not needed any more.\n');
    });
}

/** A database in a folder belongs to one process at a time: the service has to be stopped for it. */
async function withDatabase<Result>(
  config: Config,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (config.DATABASE_URL !== undefined) {
    const database = openPostgres({ url: config.DATABASE_URL, onIdleError: () => undefined });
    return await work(database).finally(() => database.close());
  }
  const release = await lockFolder(config.DATA_DIR);
  try {
    const database = await openEmbedded({ folder: join(config.DATA_DIR, 'database') });
    return await work(database).finally(() => database.close());
  } finally {
    await release();
  }
}

async function requireStarted(database: Database): Promise<void> {
  const [row] = await database.query<{ found: boolean }>(
    `SELECT to_regclass('installation') IS NOT NULL AS found`,
  );
  if (!row?.found) throw new CommandError(EXIT.refused, 'The service has never run on this database.');
}

function explain(error: unknown): never {
  if (error instanceof FolderLockedError) {
    throw new CommandError(EXIT.unavailable, `${error.message}.`, { cause: error });
  }
  if (error instanceof UnreadableSecretError) {
    throw new CommandError(EXIT.refused, `${error.message}; add its key to SECRETS_KEY_PREVIOUS.`, {
      cause: error,
    });
  }
  throw error;
}
