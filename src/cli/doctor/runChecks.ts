import { type Config, loadConfig } from '../../app/settings/config.ts';
import { ConfigurationError } from '../../base/configurationError.ts';
import { configuredAddress } from '../serviceAddress.ts';
import { checkDatabase, type DatabaseCheckDeps } from './database.ts';
import { checkDataFolder } from './dataFolder.ts';
import { checkDrachtio } from './drachtio.ts';
import { type Finding, fail, ok } from './finding.ts';
import { checkModels, type ProbeEndpoint } from './models.ts';
import { checkNode } from './node.ts';
import { checkPorts, type TryPort } from './ports.ts';
import { checkRedis, type RedisCheckDeps } from './redis.ts';
import { checkSecretsKey } from './secretsKey.ts';
import { checkService } from './service.ts';
import { checkDocuments, checkRecordings } from './storage.ts';

/** The checks' access to the machine and the network. */
export interface DoctorDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly node: { readonly version: string; readonly range: string };
  readonly database: DatabaseCheckDeps;
  readonly redis: RedisCheckDeps;
  readonly probeDrachtio: Parameters<typeof checkDrachtio>[1];
  readonly probeEndpoint: ProbeEndpoint;
  readonly tryPort: TryPort;
  readonly fetch: typeof fetch;
}

/** Checks the settings and everything they refer to. Changes nothing. */
export async function runChecks(deps: DoctorDeps): Promise<Finding[]> {
  const node = checkNode(deps.node.version, deps.node.range);
  let config: Config;
  try {
    config = loadConfig(deps.environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const problems = error.problems.map(({ variable, message }) =>
      fail('settings', `${variable} ${message}`, `Correct ${variable} in the environment or in .env.`),
    );
    return [node, ...problems];
  }
  return [node, ok('settings', 'all are valid'), ...(await checkConfig(config, deps))];
}

async function checkConfig(config: Config, deps: DoctorDeps): Promise<Finding[]> {
  const [folder, service, database, redis, sip, models] = await Promise.all([
    checkDataFolder(config),
    config.PORT === 0
      ? { finding: ok('service', 'not checked: PORT is 0, so its port is unknown'), isRunning: false }
      : checkService(configuredAddress(config), deps.fetch),
    checkDatabase(config.DATABASE_URL, deps.database),
    checkRedis(config.REDIS_URL, deps.redis),
    config.DRACHTIO_URL === undefined ? [] : [checkDrachtio(config.DRACHTIO_URL, deps.probeDrachtio)],
    checkModels(config, deps.probeEndpoint),
  ]);
  return [
    service.finding,
    ...folder,
    await checkSecretsKey(config, database.sealedWith),
    ...database.findings,
    redis,
    ...(await Promise.all(sip)),
    ...(service.isRunning ? [] : await checkPorts(config, deps.tryPort)),
    ...models,
    checkRecordings(config),
    await checkDocuments(config),
  ];
}
