import { credentialsOf, speechCredentialsOf } from '../../../app/services/providers.ts';
import { type Config, providerPrefix, readEnvironment } from '../../../app/settings/config.ts';
import { type Clock, systemClock } from '../../../base/values/clock.ts';
import { ModelError } from '../../../models/ports/modelError.ts';
import {
  ENGINE_PROVIDERS,
  type EngineProvider,
  engineCredentialName,
} from '../../../models/ports/providerNames.ts';
import type { Credentials, ProviderOptions } from '../../../models/providerOptions.ts';
import { createLocalTextToSpeech } from '../../../vendors/local/textToSpeech.ts';
import {
  ENGINES,
  openAiStreamingStt,
  RECOGNITION_PROVIDERS,
  type RecognitionProvider,
  STT_PROVIDERS,
  SYNTHESIS_PROVIDERS,
  type SynthesisProvider,
  TTS_PROVIDERS,
} from '../../../vendors/registry.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { tryEngine } from './tryEngine.ts';
import { type SpokenSample, tryRecognition } from './tryRecognition.ts';
import { trySynthesis } from './trySynthesis.ts';

/** The text that is said to the recognizers, and by the voices. */
const SAMPLE_TEXT = 'I would like to book a table for two, please.';

const SAMPLE_TIMEOUT_MS = 20_000;
const LOUD = 300;

export interface SpeechCheckDeps {
  /** {@link SAMPLE_TEXT} as it sounds. */
  readonly sample: SpokenSample;
  readonly clock: Clock;
  /** Settings that the service has and this shell has not. */
  readonly unknown: ReadonlySet<string>;
}

/** The trials of `callway doctor --speech`. */
export async function trySpeech(config: Config, unknown: ReadonlySet<string>): Promise<Finding[]> {
  return await checkSpeech(config, { sample: await spokenSample(), clock: systemClock, unknown });
}

/** One test of a provider. */
interface Trial {
  readonly name: string;
  /** The prefix of the provider's settings. */
  readonly prefix: string;
  /** Default: a failure. */
  readonly failed?: typeof warn;
  run(): Promise<Finding>;
}

/**
 * Tries every speech provider and speech-to-speech model that the settings have credentials for, or select, as a call
 * would. The trials run at the same time, for two sentences each at most.
 */
export async function checkSpeech(config: Config, deps: SpeechCheckDeps): Promise<Finding[]> {
  const recognizers = RECOGNITION_PROVIDERS.filter((one) => isConfigured(config, 'STT_PROVIDER', one));
  const synthesizers = SYNTHESIS_PROVIDERS.filter((one) => isConfigured(config, 'TTS_PROVIDER', one));
  const engines = ENGINE_PROVIDERS.filter((one) => isUsable(config, enginePrefix(one), one === 'custom'));
  const trials = [
    ...recognizers.map((provider) => recognitionTrial(config, provider, deps)),
    ...synthesizers.map((provider) => synthesisTrial(config, provider, deps)),
    ...engines.map((provider) => engineTrial(config, provider, deps)),
  ];
  return await Promise.all(trials.map((trial) => findingOf(trial, deps.unknown)));
}

async function findingOf(
  { name, prefix, failed = fail, run }: Trial,
  unknown: ReadonlySet<string>,
): Promise<Finding> {
  const key = `${prefix}_API_KEY`;
  if (unknown.has(key))
    return ok(name, `not checked from here: ${key} of the service is not known to this shell`);
  try {
    return await run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'does not answer';
    if (error instanceof ModelError && error.code === 'model_rejected')
      return failed(name, reason, `Check ${key}, and the model and voice of the settings.`);
    return failed(name, reason, `Check ${prefix}_BASE_URL, and this machine’s internet access.`);
  }
}

function recognitionTrial(
  config: Config,
  provider: RecognitionProvider,
  { sample, clock }: SpeechCheckDeps,
): Trial {
  const prefix = providerPrefix('STT_PROVIDER', provider);
  const name = `${provider} recognition`;
  const model = config.STT_PROVIDER === provider ? config.STT_MODEL : undefined;
  const credentials = speechCredentialsOf(config, 'stt', prefix);
  const options = { ...vendorOptions(config, credentials, clock), model };
  // At the API of OpenAI alone a key without the endpoint of the settings is for agents, whose recognition is a session.
  const isForAgents = provider === 'openai' && config.STT_PROVIDER !== 'openai' && !credentials.baseUrl;
  const create = isForAgents ? openAiStreamingStt : STT_PROVIDERS[provider];
  return {
    name,
    prefix,
    async run() {
      const recognizer = await create(options);
      try {
        const { heard, ...latency } = await tryRecognition(recognizer, sample, clock);
        const { firstWordsMs, finalWordsMs } = latency;
        const first = firstWordsMs === undefined ? '' : `first words after ${shown(firstWordsMs)}, `;
        const message = `${first}final words ${shown(finalWordsMs)} after the last sound: “${heard}”`;
        if (heard === '')
          return warn(name, 'has heard no words', 'Check the model and language of the settings.');
        return { ...ok(name, message), latency: rounded(latency) };
      } finally {
        await recognizer.close();
      }
    },
  };
}

function synthesisTrial(config: Config, provider: SynthesisProvider, { clock }: SpeechCheckDeps): Trial {
  const prefix = providerPrefix('TTS_PROVIDER', provider);
  const name = `${provider} synthesis`;
  const isSelected = config.TTS_PROVIDER === provider;
  const options = {
    ...vendorOptions(config, speechCredentialsOf(config, 'tts', prefix), clock),
    model: isSelected ? config.TTS_MODEL : undefined,
    voice: isSelected ? config.TTS_VOICE : undefined,
  };
  return {
    name,
    prefix,
    async run() {
      const synthesizer = await TTS_PROVIDERS[provider](options);
      try {
        const latency = await trySynthesis(synthesizer, SAMPLE_TEXT, clock);
        const { firstAudioMs, firstAudioWithConnectionMs, audioMs } = latency;
        const connecting = `${shown(firstAudioWithConnectionMs)} with the connection`;
        const message = `first audio after ${shown(firstAudioMs)} (${connecting}), ${(audioMs / 1000).toFixed(1)} s of speech`;
        return { ...ok(name, message), latency: rounded({ firstAudioMs, firstAudioWithConnectionMs }) };
      } finally {
        await synthesizer.close();
      }
    },
  };
}

/** Tries the model and the voice that agents get which name none. */
function engineTrial(config: Config, provider: EngineProvider, { clock }: SpeechCheckDeps): Trial {
  const prefix = enginePrefix(provider);
  const name = `${provider} engine`;
  return {
    name,
    prefix,
    // A key of chat or speech need not be good for a model that hears and speaks itself.
    failed: provider === 'custom' ? fail : warn,
    async run() {
      const engine = await ENGINES[provider](vendorOptions(config, credentialsOf(config, prefix), clock));
      try {
        const { firstAudioWithConnectionMs, audioMs } = await tryEngine(engine, SAMPLE_TEXT, clock);
        const message = `first audio after ${shown(firstAudioWithConnectionMs)} with the connection, ${(audioMs / 1000).toFixed(1)} s of speech`;
        return { ...ok(name, message), latency: rounded({ firstAudioWithConnectionMs }) };
      } finally {
        await engine.close();
      }
    },
  };
}

function enginePrefix(provider: EngineProvider): string {
  return engineCredentialName(provider).toUpperCase();
}

/** The local models need no credentials: they are tried where they are selected. */
function isConfigured(
  config: Config,
  variable: 'STT_PROVIDER' | 'TTS_PROVIDER',
  provider: RecognitionProvider | SynthesisProvider,
): boolean {
  if (config[variable] === provider) return true;
  const { apiKey, baseUrl } = speechCredentialsOf(
    config,
    variable === 'STT_PROVIDER' ? 'stt' : 'tts',
    providerPrefix(variable, provider),
  );
  return baseUrl !== undefined || (apiKey !== undefined && provider !== 'custom');
}

/** @param isOwn - A server of one's own, which has an address and need not have a key. */
function isUsable(config: Config, prefix: string, isOwn: boolean): boolean {
  const { apiKey, baseUrl } = credentialsOf(config, prefix);
  return baseUrl !== undefined || (apiKey !== undefined && !isOwn);
}

function vendorOptions(config: Config, credentials: Credentials, clock: Clock): ProviderOptions {
  return {
    credentials,
    clock,
    timeoutMs: config.MODEL_TIMEOUT_SECONDS * 1000,
    searchPath: readEnvironment().PATH ?? '',
    warn: () => undefined,
  };
}

function shown(durationMs: number): string {
  return `${Math.round(durationMs)} ms`;
}

function rounded(latency: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(latency).flatMap(([name, ms]) => (ms === undefined ? [] : [[name, Math.round(ms)]])),
  );
}

/** Makes a sample in the voice of the local synthesizer, without the silence around it. */
async function spokenSample(): Promise<SpokenSample> {
  const voice = createLocalTextToSpeech();
  const pieces: number[] = [];
  try {
    for await (const samples of voice.synthesize(
      { text: SAMPLE_TEXT },
      AbortSignal.timeout(SAMPLE_TIMEOUT_MS),
    ))
      pieces.push(...samples);
  } finally {
    await voice.close();
  }
  const first = pieces.findIndex(isLoud);
  const samples = Int16Array.from(pieces.slice(first, pieces.findLastIndex(isLoud) + 1));
  return { text: SAMPLE_TEXT, samples, sampleRateHz: voice.sampleRateHz };
}

function isLoud(sample: number): boolean {
  return Math.abs(sample) > LOUD;
}
