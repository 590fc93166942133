import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { tryPort } from '../../app/node/freePorts.ts';
import { packagePath } from '../../base/packagePath.ts';
import { readMigrations } from '../../infra/postgres/connection/migrate.ts';
import { probePostgres } from '../../infra/postgres/connection/probe.ts';
import { installedRedisServer, probeRedis } from '../../infra/redis/connection/probe.ts';
import { probeDrachtio } from '../../telephony/control/probe.ts';
import { probeEndpoint } from '../../vendors/openai/probe.ts';
import { type ApiOptions, withApiOptions } from '../apiSession.ts';
import { type CliContext, EXIT, type ExitCode } from '../command.ts';
import { effectiveSettings } from '../doctor/effectiveSettings.ts';
import { report } from '../doctor/finding.ts';
import { type DoctorDeps, runChecks, runSpeechChecks } from '../doctor/runChecks.ts';
import { trySpeech } from '../doctor/speech/checkSpeech.ts';

const PACKAGE = packagePath('package.json');
const MIGRATIONS = packagePath('migrations');

interface DoctorOptions extends ApiOptions {
  readonly speech?: boolean;
}

const manifest = z.object({ engines: z.object({ node: z.string() }) });

export function doctorCommand(program: Command, context: CliContext, end: (code: ExitCode) => void): void {
  withApiOptions(program.command('doctor'))
    .description('check the settings and all dependencies; changes nothing')
    .option(
      '--speech',
      'try the keys of the speech providers and speech-to-speech models instead, for two sentences each, and measure latency',
    )
    .action(async ({ speech, ...options }: DoctorOptions) => {
      const { engines } = manifest.parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
      const settings = await effectiveSettings(context.environment, options.url, context.fetch);
      const deps: DoctorDeps = {
        settings,
        node: { version: process.versions.node, range: engines.node },
        database: { probe: probePostgres, migrations: await readMigrations(MIGRATIONS) },
        redis: { probe: probeRedis, installed: installedRedisServer },
        probeDrachtio,
        probeEndpoint: (endpoint) => probeEndpoint(endpoint, context.fetch),
        tryPort,
        fetch: context.fetch,
        trySpeech,
      };
      const findings = await (speech ? runSpeechChecks(deps) : runChecks(deps));
      context.write(options.json ? `${JSON.stringify(findings, null, 2)}\n` : report(findings));
      end(findings.some(({ status }) => status === 'fail') ? EXIT.refused : EXIT.ok);
    });
}
