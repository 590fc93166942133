import type { Config } from '../../app/settings/config.ts';
import type { EndpointAnswer } from '../../providers/openai/probe.ts';
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

export type ProbeEndpoint = (endpoint: {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}) => Promise<EndpointAnswer>;

interface Use {
  readonly name: string;
  readonly setting: 'OPENAI' | 'EMBEDDING';
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
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
  const missing = use.models.filter((model) => !models.includes(model));
  if (missing.length === 0) return ok(use.name, `${shown} responds and has ${use.models.join(', ')}`);
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
    ...(config.CHAT_PROVIDER === 'openai'
      ? [config.CHAT_MODEL_SMART, config.CHAT_MODEL_BALANCE, config.CHAT_MODEL_TURBO]
      : []),
    ...(config.STT_PROVIDER === 'openai' ? [config.STT_MODEL ?? DEFAULT_TRANSCRIPTION_MODEL] : []),
    ...(config.TTS_PROVIDER === 'openai' ? [config.TTS_MODEL ?? DEFAULT_SPEECH_MODEL] : []),
  ];
  const uses: Use[] = models.length > 0 ? [{ name: 'models', ...main, models: [...new Set(models)] }] : [];
  if (config.EMBEDDING_PROVIDER !== 'openai') return uses;
  const own = config.EMBEDDING_BASE_URL !== undefined || config.EMBEDDING_API_KEY !== undefined;
  const embeddings: Use = {
    name: 'embeddings',
    setting: own ? 'EMBEDDING' : 'OPENAI',
    baseUrl: config.EMBEDDING_BASE_URL ?? main.baseUrl,
    apiKey: config.EMBEDDING_API_KEY ?? main.apiKey,
    models: [],
  };
  return own || uses.length === 0 ? [...uses, embeddings] : uses;
}
