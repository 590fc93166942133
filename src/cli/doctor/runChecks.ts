import type { TryPort } from '../../app/node/freePorts.ts';
import { type Config, loadConfig } from '../../app/settings/config.ts';
import type { SettingName } from '../../app/settings/settings.ts';
import { ConfigurationError } from '../../base/configurationError.ts';
import { configuredAddress } from '../serviceAddress.ts';
import { checkDatabase, type DatabaseCheckDeps } from './database.ts';
import { checkDataFolder } from './dataFolder.ts';
import { checkDrachtio } from './drachtio.ts';
import type { EffectiveSettings } from './effectiveSettings.ts';
import { type Finding, fail, ok } from './finding.ts';
import { checkModels, type ProbeEndpoint } from './models.ts';
import { checkNode } from './node.ts';
import { checkPorts } from './ports.ts';
import { checkRedis, type RedisCheckDeps } from './redis.ts';
import { checkSecretsKey } from './secretsKey.ts';
import { checkService } from './service.ts';
import { checkSipSettings, checkTrunks } from './sip.ts';
import { checkDocuments, checkRecordings } from './storage.ts';

/** The checks' access to the machine and the network. */
export interface DoctorDeps {
  readonly settings: EffectiveSettings;
  readonly node: { readonly version: string; readonly range: string };
  readonly database: DatabaseCheckDeps;
  readonly redis: RedisCheckDeps;
  readonly probeDrachtio: Parameters<typeof checkDrachtio>[1];
  readonly probeEndpoint: ProbeEndpoint;
  readonly tryPort: TryPort;
  readonly fetch: typeof fetch;
  readonly trySpeech: (config: Config, unknown: ReadonlySet<string>) => Promise<Finding[]>;
}

/** Checks the settings and everything they refer to. Changes nothing. */
export async function runChecks(deps: DoctorDeps): Promise<Finding[]> {
  const node = checkNode(deps.node.version, deps.node.range);
  return [node, ...(await withConfig(deps, (config) => checkConfig(config, deps)))];
}

/** Tries the speech providers of the settings, which costs a little. */
export async function runSpeechChecks(deps: DoctorDeps): Promise<Finding[]> {
  return await withConfig(deps, (config) => deps.trySpeech(config, deps.settings.unknown));
}

async function withConfig(
  deps: DoctorDeps,
  check: (config: Config) => Promise<Finding[]>,
): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig({ ...deps.settings.environment, ...placeholders(deps.settings.unknown) });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map(({ variable, message }) =>
      fail('settings', `${variable} ${message}`, `Correct ${variable} in the environment or in .env.`),
    );
  }
  return [deps.settings.finding, ...(await check(config))];
}

/** A service's secrets that are unknown here are still set: the settings that depend on them stay valid. */
function placeholders(unknown: ReadonlySet<string>): Record<string, string> {
  const known: Record<string, string> = {
    DATABASE_URL: 'postgres://unknown',
    REDIS_URL: 'redis://unknown',
    DRACHTIO_URL: 'drachtio://unknown',
    SECRETS_KEY: '0'.repeat(64),
    SECRETS_KEY_PREVIOUS: '0'.repeat(64),
    OTEL_EXPORTER_OTLP_HEADERS: 'name=value',
  };
  return Object.fromEntries([...unknown].map((name) => [name, known[name] ?? 'unknown-to-this-shell-00']));
}

/** A check that needs a secret which only the service has. */
function unchecked(name: string, secrets: readonly string[]): Finding {
  return ok(name, `not checked from here: ${secrets.join(', ')} of the service is not known to this shell`);
}

async function checkConfig(config: Config, deps: DoctorDeps): Promise<Finding[]> {
  const missing = (...secrets: SettingName[]) => secrets.filter((name) => deps.settings.unknown.has(name));
  const noModelKey = missing('OPENAI_API_KEY', 'EMBEDDING_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY');
  const [folder, service, database, redis, sip, models] = await Promise.all([
    checkDataFolder(config),
    config.PORT === 0 && deps.settings.service === undefined
      ? { finding: ok('service', 'not checked: PORT is 0, so its port is unknown'), isRunning: false }
      : checkService(deps.settings.service?.url ?? configuredAddress(config), deps.fetch),
    missing('DATABASE_URL').length > 0
      ? { findings: [unchecked('database', ['DATABASE_URL'])], sealedWith: undefined }
      : checkDatabase(config.DATABASE_URL, deps.database),
    missing('REDIS_URL').length > 0
      ? unchecked('Redis', ['REDIS_URL'])
      : checkRedis(config.REDIS_URL, deps.redis),
    checkSip(config, deps),
    noModelKey.length > 0 ? [unchecked('models', noModelKey)] : checkModels(config, deps.probeEndpoint),
  ]);
  return [
    service.finding,
    ...folder,
    missing('SECRETS_KEY').length > 0
      ? unchecked('secrets key', ['SECRETS_KEY'])
      : await checkSecretsKey(config, database.sealedWith),
    ...database.findings,
    redis,
    ...sip,
    ...(deps.settings.service ? await checkTrunks(deps.settings.service, deps.fetch) : []),
    ...(service.isRunning ? [] : await checkPorts(config, deps.tryPort)),
    ...models,
    checkRecordings(config),
    await checkDocuments(config),
  ];
}

async function checkSip(config: Config, { settings, probeDrachtio }: DoctorDeps): Promise<Finding[]> {
  const { DRACHTIO_URL: url } = config;
  if (url === undefined) return checkSipSettings(config, Date.now());
  if (settings.unknown.has('DRACHTIO_URL')) return [unchecked('drachtio', ['DRACHTIO_URL'])];
  return [await checkDrachtio(url, probeDrachtio)];
}
