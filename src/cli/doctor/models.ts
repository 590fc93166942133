import { credentialsOf } from '../../app/services/providers.ts';
import type { Config } from '../../app/settings/config.ts';
import { ANTHROPIC_BASE_URL, anthropicHeaders } from '../../providers/anthropic/chat.ts';
import type { EndpointAnswer, ProbedEndpoint } from '../../providers/openai/probe.ts';
import { GOOGLE_BASE_URL, GOOGLE_PATH } from '../../providers/openai/provider.ts';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../providers/ports/speechToText.ts';
import { DEFAULT_SPEECH_MODEL } from '../../providers/ports/textToSpeech.ts';
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
  readonly setting: 'OPENAI' | 'EMBEDDING' | 'ANTHROPIC' | 'GOOGLE';
  /** Model names from the settings. */
  readonly models: readonly string[];
}

/** Checks that each model endpoint responds, accepts the key, and has the models. */
export async function checkModels(config: Config, probe: ProbeEndpoint): Promise<Finding[]> {
  const uses = usesOf(config);
  const local = (['CHAT', 'TTS', 'EMBEDDING'] as const).filter(
    (what) => config[`${what}_PROVIDER`] === 'local',
  );
  return [
    ...(await Promise.all(uses.map((use) => checkEndpoint(use, probe)))),
    ...(config.STT_PROVIDER === 'local' ? [OFFLINE_RECOGNITION] : []),
    ...(local.length > 0 ? [ok('local models', `${local.join(', ')}: on this machine, for rehearsal`)] : []),
  ];
}

async function checkEndpoint(use: Use, probe: ProbeEndpoint): Promise<Finding> {
  const shown = shownAddress(use.baseUrl);
  let answer: EndpointAnswer;
  try {
    answer = await probe(use);
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
  // Google lists its models by their paths.
  const missing = use.models.filter(
    (model) => !models.some((one) => one === model || one === `models/${model}`),
  );
  const has = use.models.length > 0 ? ` and has ${use.models.join(', ')}` : '';
  if (missing.length === 0) return ok(use.name, `${shown} responds${has}`);
  return warn(
    use.name,
    `${shown} does not list ${missing.join(', ')}`,
    'Set the *_MODEL settings to models that it lists.',
  );
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
  const models = [
    ...chatModelsOf(config, 'openai'),
    ...(config.STT_PROVIDER === 'openai' ? [config.STT_MODEL ?? DEFAULT_TRANSCRIPTION_MODEL] : []),
    ...(config.TTS_PROVIDER === 'openai' ? [config.TTS_MODEL ?? DEFAULT_SPEECH_MODEL] : []),
  ];
  const uses: Use[] = [
    ...(models.length > 0 ? [{ name: 'models', ...main, models: [...new Set(models)] }] : []),
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

/** Those of the settings, and those that agents may name. */
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
      models: chatModelsOf(config, 'anthropic'),
    },
    {
      name: 'google models',
      setting: 'GOOGLE',
      baseUrl: `${google.baseUrl ?? GOOGLE_BASE_URL}${GOOGLE_PATH}`,
      apiKey: google.apiKey,
      models: chatModelsOf(config, 'google'),
    },
  ];
  return uses.filter(
    ({ apiKey, setting }) => apiKey !== undefined || credentialsOf(config, setting).baseUrl !== undefined,
  );
}

function chatModelsOf(config: Config, provider: Config['CHAT_PROVIDER']): string[] {
  if (config.CHAT_PROVIDER !== provider) return [];
  return [...new Set([config.CHAT_MODEL_SMART, config.CHAT_MODEL_BALANCE, config.CHAT_MODEL_TURBO])];
}
