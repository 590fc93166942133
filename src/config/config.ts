import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

import { type SettingName, type Settings, settings } from './settings.ts';

export type Role = Settings['ROLES'][number];
export type Provider = 'openai' | 'local';

/** The validated settings, with what follows from them. Frozen. */
export type Config = Readonly<
  Omit<Settings, 'CHAT_PROVIDER' | 'STT_PROVIDER' | 'TTS_PROVIDER' | 'EMBEDDING_PROVIDER'> & {
    /** Absolute. */
    DATA_DIR: string;
    CHAT_PROVIDER: Provider;
    STT_PROVIDER: Provider;
    TTS_PROVIDER: Provider;
    EMBEDDING_PROVIDER: Provider;
  }
>;

type Given = Readonly<Record<string, string | undefined>>;

export interface ConfigurationProblem {
  readonly variable: string;
  readonly message: string;
}

/** Says everything that is wrong with the settings at once. */
export class ConfigurationError extends Error {
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ variable, message }) => `${variable}: ${message}`).join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/**
 * Reads the process's environment, and for what is not set there the file `.env` of the working folder.
 * The only place that looks at `process.env`.
 */
export function readEnvironment(file = '.env'): Readonly<Record<string, string | undefined>> {
  const fromFile = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  return { ...fromFile, ...process.env };
}

/**
 * Turns environment variables into the configuration. An empty value counts as not set.
 *
 * @throws {ConfigurationError} naming every variable that is wrong.
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.keys(settings.shape)
      .map((name) => [name, environment[name]?.trim()] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = settings.safeParse(given);
  const malformed = (parsed.error?.issues ?? []).map((issue) => ({
    variable: String(issue.path[0]),
    message: issue.message,
  }));
  const problems = [...malformed, ...contradictions(parsed.data ?? soundValues(given), given)];
  if (parsed.data === undefined || problems.length > 0) throw new ConfigurationError(problems);
  return Object.freeze({
    ...parsed.data,
    DATA_DIR: resolve(parsed.data.DATA_DIR),
    ...providers(parsed.data),
  });
}

/** What can be read of settings that are wrong in part, so that the rest is checked all the same. */
function soundValues(given: Given): Partial<Settings> {
  const values = Object.entries(settings.shape).flatMap(([name, schema]) => {
    const parsed = schema.safeParse(given[name]);
    return parsed.success ? [[name, parsed.data]] : [];
  });
  return Object.fromEntries(values);
}

function providers(values: Settings) {
  const openai = values.OPENAI_API_KEY !== undefined || values.OPENAI_BASE_URL !== undefined;
  const embeddings =
    openai || values.EMBEDDING_API_KEY !== undefined || values.EMBEDDING_BASE_URL !== undefined;
  return {
    CHAT_PROVIDER: values.CHAT_PROVIDER ?? fallback(openai),
    STT_PROVIDER: values.STT_PROVIDER ?? fallback(openai),
    TTS_PROVIDER: values.TTS_PROVIDER ?? fallback(openai),
    EMBEDDING_PROVIDER: values.EMBEDDING_PROVIDER ?? fallback(embeddings),
  };
}

function fallback(reachable: boolean): Provider {
  return reachable ? 'openai' : 'local';
}

/**
 * @param values - Those that are well formed, with defaults.
 * @param given - All that are set, well formed or not.
 */
function contradictions(values: Partial<Settings>, given: Given): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const report = (variable: SettingName, message: string) => problems.push({ variable, message });
  const isGiven = (...names: SettingName[]) => names.some((name) => given[name] !== undefined);

  const { RTP_PORT_MIN, RTP_PORT_MAX } = values;
  if (RTP_PORT_MIN !== undefined && RTP_PORT_MAX !== undefined && RTP_PORT_MIN >= RTP_PORT_MAX) {
    report('RTP_PORT_MAX', 'must be above RTP_PORT_MIN');
  }
  if (isGiven('SIP_TLS_PORT')) {
    if (!isGiven('SIP_TLS_CERT_FILE')) report('SIP_TLS_CERT_FILE', 'is needed with SIP_TLS_PORT');
    if (!isGiven('SIP_TLS_KEY_FILE')) report('SIP_TLS_KEY_FILE', 'is needed with SIP_TLS_PORT');
  }
  for (const name of ['SIP_TLS_CERT_FILE', 'SIP_TLS_KEY_FILE', 'SIP_TLS_CA_FILE'] as const) {
    const file = values[name];
    if (file !== undefined && !existsSync(file)) report(name, `names a file that does not exist: ${file}`);
  }
  if (!isGiven('OPENAI_API_KEY', 'OPENAI_BASE_URL')) {
    for (const name of ['CHAT_PROVIDER', 'STT_PROVIDER', 'TTS_PROVIDER'] as const) {
      if (values[name] !== 'openai') continue;
      report(name, 'is openai, which needs OPENAI_API_KEY or OPENAI_BASE_URL');
    }
    if (values.EMBEDDING_PROVIDER === 'openai' && !isGiven('EMBEDDING_API_KEY', 'EMBEDDING_BASE_URL')) {
      report(
        'EMBEDDING_PROVIDER',
        'is openai, which needs OPENAI_API_KEY, OPENAI_BASE_URL or their EMBEDDING_ forms',
      );
    }
  }
  if (isGiven('S3_ACCESS_KEY_ID') && !isGiven('S3_SECRET_ACCESS_KEY')) {
    report('S3_SECRET_ACCESS_KEY', 'is needed with S3_ACCESS_KEY_ID');
  }
  return problems;
}
