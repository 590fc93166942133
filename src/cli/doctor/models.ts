import { credentialsOf, speechCredentialsOf } from '../../app/services/providers.ts';
import type { Config } from '../../app/settings/config.ts';
import { type ConfiguredModel, configuredModels } from '../../app/settings/configuredModels.ts';
import { nearEndOf } from '../../models/ports/modelCatalog.ts';
import { ANTHROPIC_BASE_URL, anthropicHeaders } from '../../vendors/anthropic/chat.ts';
import { type EndpointAnswer, isListed, type ProbedEndpoint } from '../../vendors/openai/probe.ts';
import { GOOGLE_BASE_URL, GOOGLE_PATH } from '../../vendors/openai/provider.ts';
import { failureReason } from '../connectionFailure.ts';
import { type Finding, fail, ok, shownAddress, warn } from './finding.ts';

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

const OFFLINE_RECOGNITION = warn(
  'speech recognition',
  'offline (STT_PROVIDER is local): English alone, callers are asked again unless they say one of a node’s expectedAnswers, and without these much is misheard',
  'For customers, set OPENAI_API_KEY, or OPENAI_BASE_URL to a compatible endpoint, and leave STT_PROVIDER unset or openai.',
);

export type ProbeEndpoint = (endpoint: ProbedEndpoint) => Promise<EndpointAnswer>;

interface Use extends ProbedEndpoint {
  readonly name: string;
  readonly setting: 'OPENAI' | 'STT' | 'TTS' | 'EMBEDDING' | 'ANTHROPIC' | 'GOOGLE';
  /** The models that the settings name. */
  readonly models: readonly ConfiguredModel[];
}

/** Checks that each model endpoint responds, accepts the key, and has the models, and that none of these ends soon. */
export async function checkModels(
  config: Config,
  probe: ProbeEndpoint,
  nowMs = Date.now(),
): Promise<Finding[]> {
  const uses = usesOf(config);
  const local = (['CHAT', 'TTS', 'EMBEDDING'] as const).filter(
    (what) => config[`${what}_PROVIDER`] === 'local',
  );
  return [
    ...(await Promise.all(uses.map((use) => checkEndpoint(use, probe)))),
    ...configuredModels(config).flatMap((model) => endOf(model, nowMs)),
    ...(config.STT_PROVIDER === 'local' ? [OFFLINE_RECOGNITION] : []),
    ...(local.length > 0 ? [ok('local models', `${local.join(', ')}: on this machine, for rehearsal`)] : []),
  ];
}

async function checkEndpoint(use: Use, probe: ProbeEndpoint): Promise<Finding> {
  const shown = shownAddress(use.baseUrl);
  let answer: EndpointAnswer;
  try {
    answer = await probe({ ...use, wanted: use.models.map(({ model }) => model) });
  } catch (error) {
    return fail(
      use.name,
      `${shown} cannot be reached (${failureReason(error)})`,
      `Check ${use.setting}_BASE_URL, and this machine’s internet access.`,
    );
  }
  if (answer.kind === 'refused') return refused(use, shown, answer.status);
  const { models } = answer;
  if (models === undefined) return ok(use.name, `${shown} responds; it does not list its models`);
  const namesOf = (configured: readonly ConfiguredModel[]) =>
    [...new Set(configured.map(({ model }) => model))].join(', ');
  const missing = use.models.filter(({ model }) => !isListed(models, model));
  const has = use.models.length > 0 ? ` and has ${namesOf(use.models)}` : '';
  if (missing.length === 0) return ok(use.name, `${shown} responds${has}`);
  const settings = missing.map(({ setting }) => setting).join(', ');
  return warn(
    use.name,
    `${shown} does not have ${namesOf(missing)}`,
    `Set ${settings} to models that it has.`,
  );
}

function endOf({ setting, model }: ConfiguredModel, nowMs: number): Finding[] {
  const end = nearEndOf(model, nowMs);
  if (!end) return [];
  const ends = end.hasEnded ? 'ended' : 'ends';
  return [
    warn(
      'models',
      `${model} (${setting}) ${ends} at its vendor on ${end.day}`,
      `Set ${setting} to a current model, or leave it unset.`,
    ),
  ];
}

function refused(use: Use, shown: string, status: number): Finding {
  if (status === 401 || status === 403) {
    return fail(use.name, `${shown} refuses the key (${status})`, `Check ${use.setting}_API_KEY.`);
  }
  return fail(
    use.name,
    `${shown} responds ${status} to GET /models`,
    `Check ${use.setting}_BASE_URL: it is the part before /models and often ends in /v1.`,
  );
}

function usesOf(config: Config): Use[] {
  const main = {
    setting: 'OPENAI',
    baseUrl: config.OPENAI_BASE_URL ?? OPENAI_BASE_URL,
    apiKey: config.OPENAI_API_KEY,
  } as const;
  const speech = ownSpeechEndpoints(config);
  const elsewhere = new Set(speech.map(({ setting }) => `${setting}_MODEL`));
  const models = modelsOf(config, 'openai').filter(({ setting }) => !elsewhere.has(setting));
  const uses: Use[] = [
    ...(models.length > 0 ? [{ name: 'models', ...main, models }] : []),
    ...speech,
    ...otherChatEndpoints(config),
  ];
  if (config.EMBEDDING_PROVIDER !== 'openai') return uses;
  const own = config.EMBEDDING_BASE_URL !== undefined || config.EMBEDDING_API_KEY !== undefined;
  const embeddings: Use = {
    name: 'embeddings',
    setting: own ? 'EMBEDDING' : 'OPENAI',
    baseUrl: config.EMBEDDING_BASE_URL ?? main.baseUrl,
    apiKey: config.EMBEDDING_API_KEY ?? main.apiKey,
    models: [],
  };
  return own || models.length === 0 ? [...uses, embeddings] : uses;
}

/** Returns the endpoints of speech whose settings differ from `OPENAI_*`. */
function ownSpeechEndpoints(config: Config): Use[] {
  return (['STT', 'TTS'] as const).flatMap((setting) => {
    const isOwn = config[`${setting}_BASE_URL`] !== undefined || config[`${setting}_API_KEY`] !== undefined;
    if (!isOwn || config[`${setting}_PROVIDER`] !== 'openai') return [];
    const { apiKey, baseUrl = OPENAI_BASE_URL } = speechCredentialsOf(
      config,
      setting === 'STT' ? 'stt' : 'tts',
      'OPENAI',
    );
    const name = setting === 'STT' ? 'recognition models' : 'synthesis models';
    const models = configuredModels(config).filter((model) => model.setting === `${setting}_MODEL`);
    return [{ name, setting, baseUrl, apiKey, models }];
  });
}

/** Returns the chat endpoints of the settings, and those that agents may name. */
function otherChatEndpoints(config: Config): Use[] {
  const anthropic = credentialsOf(config, 'ANTHROPIC');
  const google = credentialsOf(config, 'GOOGLE');
  const uses: Use[] = [
    {
      name: 'anthropic models',
      setting: 'ANTHROPIC',
      baseUrl: `${anthropic.baseUrl ?? ANTHROPIC_BASE_URL}/v1`,
      apiKey: anthropic.apiKey,
      headers: anthropicHeaders(anthropic.apiKey),
      models: modelsOf(config, 'anthropic'),
    },
    {
      name: 'google models',
      setting: 'GOOGLE',
      baseUrl: `${google.baseUrl ?? GOOGLE_BASE_URL}${GOOGLE_PATH}`,
      apiKey: google.apiKey,
      models: modelsOf(config, 'google'),
    },
  ];
  return uses.filter(
    ({ apiKey, setting }) => apiKey !== undefined || credentialsOf(config, setting).baseUrl !== undefined,
  );
}

function modelsOf(config: Config, vendor: string): ConfiguredModel[] {
  return configuredModels(config).filter(({ provider }) => provider === vendor);
}
