import type { Command } from 'commander';

import { loadConfig } from '../../app/settings/config.ts';
import { packagePath } from '../../base/packagePath.ts';
import { migrate, readMigrations } from '../../infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../infra/postgres/connection/postgres.ts';
import { type CliContext, CommandError, EXIT } from '../command.ts';

const MIGRATIONS = packagePath('migrations');

/** Registers `migrate`, for a job before an upgrade; nodes would migrate at their start as well. */
export function migrateCommand(program: Command, context: CliContext): void {
  program
    .command('migrate')
    .description('migrate the database of DATABASE_URL to the schema of this version, while it is in use')
    .action(async () => {
      const { DATABASE_URL: url } = loadConfig(context.environment);
      if (url === undefined) {
        const message = 'DATABASE_URL is not set: the service migrates its embedded database when it starts.';
        throw new CommandError(EXIT.usage, message);
      }
      const database = openPostgres({ url, onIdleError: () => undefined });
      try {
        const done = await migrate(database, await readMigrations(MIGRATIONS), {
          onMigrate: (name) => context.write(`Migrating: ${name}\n`),
          onWait: (what, name) => context.write(`Waiting for ${what}${name ? ` (${name})` : ''}\n`),
        });
        context.write(
          done.length === 0 ? 'The database is up to date.\n' : `Applied ${done.length} migrations.\n`,
        );
      } finally {
        await database.close();
      }
    });
}
