import type { Logger } from 'pino';
import type { KnownProviders } from '../../agents/pathway/review/providers.ts';
import type { ProviderCredentialStore } from '../../agents/speech/providerCredentials.ts';
import type { VoiceCatalog } from '../../agents/speech/voiceCatalog.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import { DEFAULT_MAX_RESPONSE_BYTES } from '../../http/client.ts';
import { createGuardedFetch } from '../../http/fetch.ts';
import type { TargetGuard } from '../../http/lookup.ts';
import { createDnsLookup } from '../../http/lookup.ts';
import { createChatClient } from '../../models/chat/chatClient.ts';
import { createRetryingEmbedder } from '../../models/failover/retryingEmbedder.ts';
import type { ChatModel } from '../../models/ports/chatModel.ts';
import {
  type Embedder,
  type EmbeddingModelName,
  LOCAL_EMBEDDING_MODEL,
} from '../../models/ports/embedder.ts';
import type { ProviderMetrics } from '../../models/ports/metrics.ts';
import { type ChatTiers, DEFAULT_CHAT_MODELS } from '../../models/ports/modelCatalog.ts';
import type { Recognizer } from '../../models/ports/recognizer.ts';
import { isStreaming } from '../../models/ports/recognizer.ts';
import { type Synthesizer, takesWords } from '../../models/ports/synthesizer.ts';
import type { ChatOptions, Credentials, ProviderOptions } from '../../models/providerOptions.ts';
import { createBatchChain } from '../../models/recognition/batchChain.ts';
import { createRecognizerChain } from '../../models/recognition/recognizerChain.ts';
import { SelectedChatModels } from '../../models/selection/chatModels.ts';
import { createEndingModelWarnings } from '../../models/selection/endingModels.ts';
import { SelectedSpeechEngines } from '../../models/selection/speechEngines.ts';
import { SelectedSpeechProviders } from '../../models/selection/speechProviders.ts';
import { createVoiceCatalog } from '../../models/selection/voiceCatalog.ts';
import { withStreamedSynthesisMetrics, withSynthesisMetrics } from '../../models/speechMetrics.ts';
import { CREDENTIAL_NAMES, type CredentialName } from '../../vendors/credentials.ts';
import {
  CHAT_PROVIDERS,
  type ChatProviderName,
  EMBEDDING_PROVIDERS,
  STT_PROVIDERS,
  TTS_PROVIDERS,
} from '../../vendors/registry.ts';
import type { ThreadContext } from '../node/threadContext.ts';
import { type Config, providerPrefix, readEnvironment } from '../settings/config.ts';

/** Saving does not wait longer for a vendor. */
const VOICE_LOOKUP_MS = 2500;

/** The chat provider of the settings. */
export async function buildChat(context: ThreadContext): Promise<ModelChoice> {
  const { config, lifecycle } = context;
  const credentials = credentialsOf(config, providerPrefix('CHAT_PROVIDER', config.CHAT_PROVIDER));
  const { chat, onlyModel, close } = await openChat(context, config.CHAT_PROVIDER, credentials, context.warn);
  lifecycle.onClose(close);
  const models =
    onlyModel === undefined ? config.CHAT_MODELS : { smart: onlyModel, balance: onlyModel, turbo: onlyModel };
  const chosen = selectedChatModels(context, chat, models);
  return {
    chat,
    choose: (...choice) => chosen.choose(...choice),
    ofInstallation: (projectId) => chosen.ofInstallation(projectId),
    ...models,
  };
}

/** The chat models that agents and nodes name. */
function selectedChatModels(
  context: ThreadContext,
  installation: ChatModel,
  models: ChatTiers,
): SelectedChatModels {
  const { config, clock, logger, lifecycle, targetPolicy, usage } = context;
  const onError = (err: unknown, what: string) => logger.warn({ err }, what);
  const warnOfEnd = endingModelWarnings(clock, logger);
  const chosen = new SelectedChatModels({
    endpoint: config.CHAT_PROVIDER,
    installation,
    credentials: (name) => credentialsOf(config, name.toUpperCase()),
    projectCredentials: context.credentials,
    guard: { policy: targetPolicy, lookup: createDnsLookup() },
    open: (endpoint, credentials, guard, owner) =>
      openChat(context, endpoint, credentials, () => undefined, guard, owner),
    models: (endpoint) =>
      endpoint === config.CHAT_PROVIDER || endpoint === 'local' ? models : DEFAULT_CHAT_MODELS[endpoint],
    allowsModel: (model) => config.CHAT_MODELS_ALLOWED?.includes(model) ?? true,
    onModelUsed: (model) => warnOfEnd(model, 'the agent’s chat'),
    usage,
    clock,
    onError,
  });
  lifecycle.onClose(() => chosen.close());
  return chosen;
}

async function openChat(
  { config, clock, logger, makeId, sessionMetrics }: ThreadContext,
  endpoint: ChatProviderName,
  credentials: Credentials,
  warn: ProviderOptions['warn'],
  guard?: TargetGuard,
  owner?: 'installation' | 'project',
) {
  const options = providerOptions({ config, clock, logger, warn }, credentials);
  const onRefused: ChatOptions['onRefused'] = (fields) =>
    logger.warn({ endpoint, ...fields }, 'chat model refuses a parameter, asked without it from now on');
  const provider = await CHAT_PROVIDERS[endpoint]({ ...options, makeId, onRefused, guard });
  const { timeoutMs, onRetry } = options;
  const metrics = sessionMetrics.providerMetrics('chat', provider.name, owner);
  const chat = createChatClient(provider, { clock, timeoutMs, onRetry, metrics });
  return { chat, onlyModel: provider.onlyModel, close: () => provider.close() };
}

export interface Speech {
  readonly speechToText: Recognizer;
  readonly textToSpeech: Synthesizer;
}

export async function buildSpeech(context: ThreadContext, logger: Logger): Promise<Speech> {
  const { config, clock, sessionMetrics, lifecycle, warn } = context;
  const options = (credentials: Credentials) => providerOptions({ config, clock, logger, warn }, credentials);
  const { STT_PROVIDER, STT_MODEL, TTS_PROVIDER, TTS_MODEL, TTS_VOICE } = config;
  const speechToText = await STT_PROVIDERS[STT_PROVIDER]({
    ...options(speechCredentialsOf(config, 'stt', providerPrefix('STT_PROVIDER', STT_PROVIDER))),
    model: STT_MODEL,
  });
  lifecycle.onClose(() => speechToText.close());
  const textToSpeech = await TTS_PROVIDERS[TTS_PROVIDER]({
    ...options(speechCredentialsOf(config, 'tts', providerPrefix('TTS_PROVIDER', TTS_PROVIDER))),
    model: TTS_MODEL,
    voice: TTS_VOICE,
  });
  lifecycle.onClose(() => textToSpeech.close());
  const recognitionMetrics = sessionMetrics.providerMetrics('transcription', speechToText.name);
  const synthesisMetrics = sessionMetrics.providerMetrics('speech', textToSpeech.name);
  return {
    speechToText: resilient(clock, logger, speechToText, recognitionMetrics),
    textToSpeech: takesWords(textToSpeech)
      ? withStreamedSynthesisMetrics(textToSpeech, synthesisMetrics, clock)
      : withSynthesisMetrics(textToSpeech, synthesisMetrics, clock),
  };
}

/** The speech providers that agents and nodes name. */
export function buildSpeechProviders(
  { config, clock, sessionMetrics, lifecycle, targetPolicy, usage }: ThreadContext,
  logger: Logger,
  projectCredentials: ProviderCredentialStore['all'],
): SelectedSpeechProviders {
  const silent = { config, clock, logger, warn: () => undefined };
  const { STT_PROVIDER, STT_MODEL, TTS_PROVIDER, TTS_MODEL, TTS_VOICE } = config;
  const warnOfEnd = endingModelWarnings(clock, logger);
  const providers = new SelectedSpeechProviders({
    onModelUsed(model) {
      if (model !== STT_MODEL && model !== TTS_MODEL) warnOfEnd(model, 'the agent’s speech');
    },
    defaults: {
      // The settings mean the endpoint that takes an utterance at a time.
      recognition: {
        provider: STT_PROVIDER,
        model: STT_MODEL,
        options: STT_PROVIDER === 'openai' ? { batch: true } : undefined,
      },
      synthesis: { provider: TTS_PROVIDER, model: TTS_MODEL, voice: TTS_VOICE },
    },
    credentials: (name, kind) => speechCredentialsOf(config, kind, name.toUpperCase()),
    projectCredentials,
    guard: { policy: targetPolicy, lookup: createDnsLookup() },
    options: (credentials) => providerOptions(silent, credentials),
    metrics: sessionMetrics.providerMetrics,
    usage,
    clock,
    onError: (err, what, fields) => logger.warn({ err, ...fields }, what),
  });
  lifecycle.onClose(() => providers.close());
  return providers;
}

/** The speech-to-speech models that agents and nodes name. */
export function buildSpeechEngines(
  { config, clock, sessionMetrics, lifecycle, targetPolicy, usage }: ThreadContext,
  logger: Logger,
  projectCredentials: ProviderCredentialStore['all'],
): SelectedSpeechEngines {
  const silent = { config, clock, logger, warn: () => undefined };
  const warnOfEnd = endingModelWarnings(clock, logger);
  const engines = new SelectedSpeechEngines({
    onModelUsed: (model) => warnOfEnd(model, 'the agent’s engine'),
    credentials: (name) => credentialsOf(config, name.toUpperCase()),
    projectCredentials,
    guard: { policy: targetPolicy, lookup: createDnsLookup() },
    options: (credentials) => providerOptions(silent, credentials),
    metrics: sessionMetrics.providerMetrics,
    usage,
    clock,
    onError: (err, what) => logger.warn({ err }, what),
  });
  lifecycle.onClose(() => engines.close());
  return engines;
}

/** The voices of the vendors that agents and nodes name. */
export function buildVoiceCatalog({ config, storage, client }: ThreadContext): VoiceCatalog {
  const request = (headers: Readonly<Record<string, string>>) => ({
    headers,
    redirect: 'error' as const,
    signal: AbortSignal.timeout(VOICE_LOOKUP_MS),
  });
  const guarded = createGuardedFetch(client, {
    timeoutMs: VOICE_LOOKUP_MS,
    maxResponseBytes: DEFAULT_MAX_RESPONSE_BYTES,
    signal: new AbortController().signal,
  });
  return createVoiceCatalog({
    defaultProvider: config.TTS_PROVIDER,
    credentials: (name) => credentialsOf(config, name.toUpperCase()),
    projectCredentials: storage.stores.providerCredentials.all,
    ask: {
      installation: (url, headers) => fetch(url, request(headers)),
      project: (url, headers) => guarded(url, request(headers)),
    },
  });
}

interface EmbeddingRetries {
  readonly maxAttempts: number;
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
}

/** Finds embedders by model; a model whose provider is not configured has none. */
export type EmbedderLookup = (
  retries: EmbeddingRetries,
) => (model: EmbeddingModelName) => Embedder | undefined;

/**
 * Builds every embedding provider that is configured, whichever the settings select: vectors of one model are found by
 * that model alone.
 */
export async function buildEmbedders(context: ThreadContext, logger: Logger): Promise<EmbedderLookup> {
  const { config, clock, lifecycle, sessionMetrics, warn } = context;
  const openai = {
    apiKey: config.EMBEDDING_API_KEY ?? config.OPENAI_API_KEY,
    baseUrl: config.EMBEDDING_BASE_URL ?? config.OPENAI_BASE_URL,
  };
  const providers = [await EMBEDDING_PROVIDERS.local()];
  if (openai.apiKey !== undefined || openai.baseUrl !== undefined)
    providers.push(
      await EMBEDDING_PROVIDERS.openai(providerOptions({ config, clock, logger, warn }, openai)),
    );
  for (const { close } of providers) lifecycle.onClose(close);
  if (config.EMBEDDING_PROVIDER === 'local')
    warn(
      'no embeddings endpoint configured: documents are embedded by the local model, which is for English',
      { model: LOCAL_EMBEDDING_MODEL.name },
    );
  const embedders = new Map(
    providers.flatMap((provider) => provider.embedders.map((embedder) => [embedder.model.name, embedder])),
  );
  return (retries) => (model) => {
    const embedder = embedders.get(model);
    const onRetry = (err: Error) => logger.warn({ err, model }, 'embedding failed, retrying');
    const metrics = sessionMetrics.providerMetrics('embedding', model);
    return embedder && createRetryingEmbedder(embedder, { ...retries, clock, metrics, onRetry });
  };
}

/** A lost connection is made again. */
function resilient(clock: Clock, logger: Logger, model: Recognizer, metrics: ProviderMetrics): Recognizer {
  const { name } = model;
  if (!isStreaming(model)) return createBatchChain([{ model, name, metrics }], { clock });
  return createRecognizerChain([{ model, name, metrics }], {
    clock,
    onFallback: (from, to, err) =>
      logger.warn({ err, from: from.name, to: to.name }, 'speech recognition lost, connecting again'),
  });
}

/** The providers that the settings name, and those that they have credentials for. */
export function knownProviders(config: Config): KnownProviders {
  const isConfigured = (name: CredentialName) =>
    [
      credentialsOf(config, name.toUpperCase()),
      speechCredentialsOf(config, 'stt', name.toUpperCase()),
      speechCredentialsOf(config, 'tts', name.toUpperCase()),
    ].some(({ apiKey, baseUrl }) => apiKey !== undefined || baseUrl !== undefined);
  return {
    configured: new Set(CREDENTIAL_NAMES.filter(isConfigured)),
    recognition: config.STT_PROVIDER,
    synthesis: config.TTS_PROVIDER,
    chat: config.CHAT_PROVIDER,
  };
}

/** Reads the settings `<PREFIX>_API_KEY` and `<PREFIX>_BASE_URL`. */
export function credentialsOf(config: Config, prefix: string): Credentials {
  const settings: Readonly<Record<string, unknown>> = config;
  const read = (name: string) => {
    const value = settings[`${prefix}_${name}`];
    return typeof value === 'string' ? value : undefined;
  };
  return { apiKey: read('API_KEY'), baseUrl: read('BASE_URL') };
}

/** The start checks the settings, so that agents' models are left. */
export function endingModelWarnings(clock: Clock, logger: Logger) {
  return createEndingModelWarnings({ clock, warn: (message, fields) => logger.warn(fields, message) });
}

/** Speech may be at another OpenAI-compatible server than chat, which does not get the key of chat. */
export function speechCredentialsOf(config: Config, kind: 'stt' | 'tts', prefix: string): Credentials {
  const shared = credentialsOf(config, prefix);
  if (prefix !== 'OPENAI') return shared;
  const { apiKey, baseUrl } = credentialsOf(config, kind.toUpperCase());
  return {
    apiKey: apiKey ?? (baseUrl === undefined ? shared.apiKey : undefined),
    baseUrl: baseUrl ?? shared.baseUrl,
  };
}

function providerOptions(
  {
    config,
    clock,
    logger,
    warn,
  }: {
    readonly config: Config;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly warn: ProviderOptions['warn'];
  },
  credentials: Credentials,
) {
  return {
    credentials,
    clock,
    timeoutMs: config.MODEL_TIMEOUT_SECONDS * 1000,
    searchPath: readEnvironment().PATH ?? '',
    onRetry: (err: unknown) => logger.warn({ err }, 'model failed before its first output, retrying'),
    warn,
  };
}
