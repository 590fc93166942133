import { type Config, loadConfig } from '../../app/settings/config.ts';
import { ConfigurationError } from '../../base/configurationError.ts';
import { configuredAddress } from '../serviceAddress.ts';
import { checkDatabase, type DatabaseCheckDeps } from './database.ts';
import { checkDataFolder } from './dataFolder.ts';
import { checkDrachtio } from './drachtio.ts';
import { type Finding, fail, ok } from './finding.ts';
import { checkModels, type ProbeEndpoint } from './models.ts';
import { checkNode } from './node.ts';
import { checkObjectStore } from './objectStore.ts';
import { checkPorts, type TryPort } from './ports.ts';
import { checkRedis, type RedisCheckDeps } from './redis.ts';
import { checkSecretsKey } from './secretsKey.ts';
import { checkService } from './service.ts';
import { checkUploads } from './uploads.ts';

/** How the checks reach what they look at. */
export interface ExamineDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly node: { readonly version: string; readonly range: string };
  readonly database: DatabaseCheckDeps;
  readonly redis: RedisCheckDeps;
  readonly probeDrachtio: Parameters<typeof checkDrachtio>[1];
  readonly probeEndpoint: ProbeEndpoint;
  readonly tryPort: TryPort;
  readonly fetch: typeof fetch;
}

/** Checks everything that the settings name, and changes nothing. */
export async function examine(deps: ExamineDeps): Promise<Finding[]> {
  const node = checkNode(deps.node.version, deps.node.range);
  let config: Config;
  try {
    config = loadConfig(deps.environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const problems = error.problems.map(({ variable, message }) =>
      fail('settings', `${variable} ${message}`, `Mend ${variable} in the environment or in .env.`),
    );
    return [node, ...problems];
  }
  return [node, ok('settings', 'all are valid'), ...(await examineConfig(config, deps))];
}

async function examineConfig(config: Config, deps: ExamineDeps): Promise<Finding[]> {
  const [folder, service, database, redis, sip, models] = await Promise.all([
    checkDataFolder(config),
    config.PORT === 0
      ? { finding: ok('service', 'takes any free port, and was not asked'), isRunning: false }
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
    checkObjectStore(config),
    await checkUploads(config),
  ];
}
