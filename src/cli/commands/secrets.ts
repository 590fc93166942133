import { join } from 'node:path';
import type { Command } from 'commander';
import { type Config, loadConfig } from '../../app/settings/config.ts';
import { readSecretsKey } from '../../app/settings/keptSecret.ts';
import { createSealer } from '../../base/sealer.ts';
import { FolderLockedError, lockFolder } from '../../infra/files/folderLock.ts';
import type { Database } from '../../infra/postgres/connection/database.ts';
import { openPostgres } from '../../infra/postgres/connection/postgres.ts';
import { openEmbedded } from '../../infra/postgres/embedded/server.ts';
import { resealSecrets, UnreadableSecretError } from '../../infra/postgres/secrets/reseal.ts';
import { type CliContext, CommandError, EXIT } from '../command.ts';

export function secretsCommands(program: Command, context: CliContext): void {
  const group = program.command('secrets').description('manage stored secrets');

  group
    .command('reseal')
    .description(
      're-encrypt all stored secrets with SECRETS_KEY, including those that were encrypted with SECRETS_KEY_PREVIOUS',
    )
    .action(async () => {
      const config = loadConfig(context.environment);
      const key = await readSecretsKey(config);
      if (!key) {
        throw new CommandError(
          EXIT.configuration,
          `SECRETS_KEY is not set, and there is no file secrets-key in ${config.DATA_DIR}.`,
        );
      }
      const sealer = createSealer(key, config.SECRETS_KEY_PREVIOUS);
      const rows = await withDatabase(config, async (database) => {
        await requireStarted(database);
        return await resealSecrets(database, sealer);
      }).catch(explain);
      context.write(`All secrets are now encrypted with SECRETS_KEY; checked ${rows} rows.\n`);
      context.write('The keys in SECRETS_KEY_PREVIOUS are no longer needed.\n');
    });
}

/** The embedded database is used by one process at a time, so the service must be stopped. */
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
  if (!row?.found)
    throw new CommandError(EXIT.refused, 'The service has never been started with this database.');
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
