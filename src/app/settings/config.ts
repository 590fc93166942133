import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

import { ConfigurationError } from '../../base/configurationError.ts';
import { type ChatTiers, DEFAULT_CHAT_MODELS } from '../../models/ports/modelCatalog.ts';
import type {
  ChatProviderName,
  EmbeddingProviderName,
  RecognitionProvider,
  SynthesisProvider,
} from '../../vendors/registry.ts';
import { type SettingName, type Settings, settings } from './settings.ts';

/** The validated settings with derived defaults. Frozen. */
export type Config = Readonly<
  Omit<
    Settings,
    'CHAT_PROVIDER' | 'STT_PROVIDER' | 'TTS_PROVIDER' | 'EMBEDDING_PROVIDER' | ChatModelSetting
  > & {
    /** Absolute path. */
    DATA_DIR: string;
    CHAT_PROVIDER: ChatProviderName;
    /** The chat models by execution mode. */
    CHAT_MODELS: ChatTiers;
    STT_PROVIDER: RecognitionProvider;
    TTS_PROVIDER: SynthesisProvider;
    EMBEDDING_PROVIDER: EmbeddingProviderName;
  }
>;

type ChatModelSetting = 'CHAT_MODEL_SMART' | 'CHAT_MODEL_BALANCE' | 'CHAT_MODEL_TURBO';

type Given = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment; variables that are not set come from the file `.env` of the working folder. The only reader
 * of `process.env`.
 */
export function readEnvironment(file = '.env'): Readonly<Record<string, string | undefined>> {
  const fromFile = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  return { ...fromFile, ...process.env };
}

/**
 * Parses environment variables into the configuration. An empty value counts as not set.
 *
 * @throws {ConfigurationError} When variables are invalid; it names all of them.
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
  const problems = [...malformed, ...conflicts(parsed.data ?? validValues(given), given)];
  if (parsed.data === undefined || problems.length > 0) throw new ConfigurationError(problems);
  return Object.freeze({
    ...parsed.data,
    DATA_DIR: resolve(parsed.data.DATA_DIR),
    ...providers(parsed.data),
  });
}

/** The valid ones of partly invalid settings, so that all problems are reported at once. */
function validValues(given: Given): Partial<Settings> {
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
  const hears = values.STT_API_KEY !== undefined || values.STT_BASE_URL !== undefined;
  const speaks = values.TTS_API_KEY !== undefined || values.TTS_BASE_URL !== undefined;
  const chat = values.CHAT_PROVIDER ?? fallback(openai);
  // The local provider has one model, whatever it is called.
  const models = DEFAULT_CHAT_MODELS[chat === 'local' ? 'openai' : chat];
  return {
    CHAT_PROVIDER: chat,
    CHAT_MODELS: {
      smart: values.CHAT_MODEL_SMART ?? models.smart,
      balance: values.CHAT_MODEL_BALANCE ?? models.balance,
      turbo: values.CHAT_MODEL_TURBO ?? models.turbo,
    },
    STT_PROVIDER: values.STT_PROVIDER ?? fallback(openai || hears),
    TTS_PROVIDER: values.TTS_PROVIDER ?? fallback(openai || speaks),
    EMBEDDING_PROVIDER: values.EMBEDDING_PROVIDER ?? fallback(embeddings),
  };
}

function fallback(reachable: boolean): 'openai' | 'local' {
  return reachable ? 'openai' : 'local';
}

/** Valid settings with defaults, and all given values, valid or not. */
interface GivenSettings {
  readonly values: Partial<Settings>;
  readonly given: Given;
}

type Problem = { readonly variable: SettingName; readonly message: string };

function conflicts(values: Partial<Settings>, given: Given): Problem[] {
  const settingsToCheck = { values, given };
  return [
    ...portProblems(settingsToCheck),
    ...tlsProblems(settingsToCheck),
    ...providerProblems(settingsToCheck),
    ...storeProblems(settingsToCheck),
  ];
}

/** A vendor's credentials begin with its name; servers of one's own differ by what they do. */
export function providerPrefix(
  variable: 'CHAT_PROVIDER' | 'STT_PROVIDER' | 'TTS_PROVIDER',
  provider: string,
): string {
  const name = provider === 'custom' ? `custom_${variable.replace('_PROVIDER', '')}` : provider;
  return name.toUpperCase();
}

function portProblems({ values: { RTP_PORT_MIN, RTP_PORT_MAX } }: GivenSettings): Problem[] {
  if (RTP_PORT_MIN === undefined || RTP_PORT_MAX === undefined || RTP_PORT_MIN < RTP_PORT_MAX) return [];
  return [{ variable: 'RTP_PORT_MAX', message: 'must be above RTP_PORT_MIN' }];
}

function tlsProblems({ values, given }: GivenSettings): Problem[] {
  const missing = (['SIP_TLS_CERT_FILE', 'SIP_TLS_KEY_FILE'] as const)
    .filter((variable) => given.SIP_TLS_PORT !== undefined && given[variable] === undefined)
    .map((variable) => ({ variable, message: 'is required with SIP_TLS_PORT' }));
  const absent = (['SIP_TLS_CERT_FILE', 'SIP_TLS_KEY_FILE', 'SIP_TLS_CA_FILE'] as const).flatMap(
    (variable) => {
      const file = values[variable];
      if (file === undefined || existsSync(file)) return [];
      return [{ variable, message: `names a file that does not exist: ${file}` }];
    },
  );
  return [...missing, ...absent];
}

function providerProblems({ values, given }: GivenSettings): Problem[] {
  const isConfigured = (prefix: string) =>
    given[`${prefix}_API_KEY`] !== undefined || given[`${prefix}_BASE_URL`] !== undefined;
  const problems: Problem[] = (['CHAT_PROVIDER', 'STT_PROVIDER', 'TTS_PROVIDER'] as const).flatMap(
    (variable): Problem[] => {
      const provider = values[variable] ?? 'local';
      const prefix = providerPrefix(variable, provider);
      if (provider === 'custom' && given[`${prefix}_BASE_URL`] === undefined)
        return [{ variable, message: `is custom, which requires ${prefix}_BASE_URL` }];
      const own =
        provider === 'openai' && variable !== 'CHAT_PROVIDER' ? variable.replace('_PROVIDER', '') : prefix;
      if (provider === 'local' || isConfigured(prefix) || isConfigured(own)) return [];
      return [
        { variable, message: `is ${provider}, which requires ${prefix}_API_KEY or ${prefix}_BASE_URL` },
      ];
    },
  );
  if (values.EMBEDDING_PROVIDER !== 'openai' || isConfigured('OPENAI') || isConfigured('EMBEDDING'))
    return problems;
  const message = 'is openai, which requires OPENAI_API_KEY, OPENAI_BASE_URL or their EMBEDDING_ forms';
  return [...problems, { variable: 'EMBEDDING_PROVIDER', message }];
}

function storeProblems({ given }: GivenSettings): Problem[] {
  if (given.S3_ACCESS_KEY_ID === undefined || given.S3_SECRET_ACCESS_KEY !== undefined) return [];
  return [{ variable: 'S3_SECRET_ACCESS_KEY', message: 'is required with S3_ACCESS_KEY_ID' }];
}
