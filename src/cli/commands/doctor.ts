import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { tryPort } from '../../app/node/freePorts.ts';
import { packagePath } from '../../base/packagePath.ts';
import { readMigrations } from '../../infra/postgres/connection/migrate.ts';
import { probePostgres } from '../../infra/postgres/connection/probe.ts';
import { installedRedisServer, probeRedis } from '../../infra/redis/connection/probe.ts';
import { probeEndpoint } from '../../providers/openai/probe.ts';
import { probeDrachtio } from '../../telephony/control/probe.ts';
import { type AdminOptions, withAdminOptions } from '../adminCommand.ts';
import { type CliContext, EXIT, type ExitCode } from '../command.ts';
import { effectiveSettings } from '../doctor/effectiveSettings.ts';
import { report } from '../doctor/finding.ts';
import { runChecks } from '../doctor/runChecks.ts';

const PACKAGE = packagePath('package.json');
const MIGRATIONS = packagePath('migrations');

const manifest = z.object({ engines: z.object({ node: z.string() }) });

export function doctorCommand(program: Command, context: CliContext, end: (code: ExitCode) => void): void {
  withAdminOptions(program.command('doctor'))
    .description('check the settings and all dependencies; changes nothing')
    .action(async (options: AdminOptions) => {
      const { engines } = manifest.parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
      const findings = await runChecks({
        settings: await effectiveSettings(context.environment, options.url, context.fetch),
        node: { version: process.versions.node, range: engines.node },
        database: { probe: probePostgres, migrations: await readMigrations(MIGRATIONS) },
        redis: { probe: probeRedis, installed: installedRedisServer },
        probeDrachtio,
        probeEndpoint: (endpoint) => probeEndpoint(endpoint, context.fetch),
        tryPort,
        fetch: context.fetch,
      });
      context.write(options.json ? `${JSON.stringify(findings, null, 2)}\n` : report(findings));
      end(findings.some(({ status }) => status === 'fail') ? EXIT.refused : EXIT.ok);
    });
}
