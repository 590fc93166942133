import { hash } from 'node:crypto';
import type { UsageCounter } from '../../agents/accounts/usage.ts';
import { type ChatChoice, type ChatConfig, chatChoices } from '../../agents/chat/chatConfig.ts';
import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import type { Clock } from '../../base/values/clock.ts';
import { estimateTokens } from '../../engine/history/contextWindow.ts';
import type { ChatFallback, ChosenChat } from '../../engine/turn/turnContext.ts';
import type { TargetGuard } from '../../http/lookup.ts';
import { type CredentialName, credentialName } from '../../vendors/credentials.ts';
import { createBreakers } from '../failover/circuitBreaker.ts';
import { streamWithFailover } from '../failover/streamWithFailover.ts';
import { lateAnswer } from '../failover/streamWithRetry.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../ports/chatModel.ts';
import type { ChatTiers } from '../ports/modelCatalog.ts';
import { ModelError } from '../ports/modelError.ts';
import type { ChatEndpoint } from '../ports/providerNames.ts';
import type { Credentials } from '../providerOptions.ts';
import { type Access, accessOf } from './credentialAccess.ts';
import type { ProjectCredentialCache } from './projectCredentialCache.ts';
import { VendorCache } from './vendorCache.ts';

/** The time for the first word, after which the next model is tried, unless the model was set to reason. */
const SLOW_MS = 1500;
/** Requests that the person’s answer waits for; others may be slow. */
const AWAITED: ReadonlySet<ChatRequest['purpose']> = new Set(['answer', 'answer_and_route', 'route']);
const REASONING: ReadonlySet<ChatChoice['reasoningEffort']> = new Set(['medium', 'high']);

export interface EndpointClient {
  readonly chat: ChatModel;
  /** The only model, used whatever model a request names. */
  readonly onlyModel?: string | undefined;
  close(): Promise<void>;
}
/** The part of an endpoint's client that a stream needs. */
type OpenChat = Omit<EndpointClient, 'close'>;

export interface ChatModelsDeps {
  /** The name of the installation's endpoint. */
  readonly endpoint: ChatEndpoint;
  readonly installation: ChatModel;
  /** Returns the installation's credentials. */
  readonly credentials: (name: CredentialName) => Credentials;
  readonly projectCredentials: ProjectCredentialCache;
  /** Checks addresses that projects configure. */
  readonly guard: TargetGuard;
  readonly open: (
    endpoint: ChatEndpoint,
    credentials: Credentials,
    guard: TargetGuard | undefined,
    owner: 'installation' | 'project',
  ) => Promise<EndpointClient>;
  /** Returns the models for agents that name none. */
  readonly models: (endpoint: ChatEndpoint) => ChatTiers;
  /** Returns true when the operator lets projects use the model. */
  readonly allowsModel: (model: string) => boolean;
  /** Reports each model that an agent names and that a request goes to. */
  readonly onModelUsed: (model: string) => void;
  /** Counts what runs on the installation's credentials. */
  readonly usage: UsageCounter;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

interface ChatAccess extends Access {
  /** The circuit breaker's name for this choice. */
  readonly breaker: string;
}

/** A model that an agent or a node names, and how it is asked. */
interface Chosen {
  readonly choice: ChatChoice;
  readonly access: ChatAccess;
}

/** The chat models that agents and nodes name, by the credentials of their projects. */
export class SelectedChatModels {
  readonly #deps: ChatModelsDeps;
  readonly #clients: VendorCache<EndpointClient>;
  readonly #breakers: ReturnType<typeof createBreakers>;

  constructor(deps: ChatModelsDeps) {
    this.#deps = deps;
    this.#clients = new VendorCache((error) => deps.onError(error, 'chat endpoint not closed'));
    this.#breakers = createBreakers(deps.clock);
  }

  /** @param mode - The mode whose model answers when none is named. */
  choose(
    projectId: string,
    config: ChatConfig,
    mode: keyof ChatTiers,
    onFallback: (fallback: ChatFallback) => void,
  ): ChosenChat {
    const choices = chatChoices(config);
    const [first = {}] = choices;
    const { installation, endpoint } = this.#deps;
    const hasKeys = choices.some(
      (choice) => credentialName('chat', choice.endpoint ?? endpoint) !== undefined,
    );
    const isPlain = Object.keys(config).length === 0;
    const modelName = this.#modelOf(first, mode);
    if (isPlain && !hasKeys) return { chat: this.ofInstallation(projectId), modelName };
    const chat: ChatModel = {
      name: first.endpoint ?? installation.name,
      stream: (request, signal) => this.#stream(projectId, choices, mode, request, signal, onFallback),
    };
    return { chat, modelName };
  }

  /** The model of the settings, which counts its tokens for the project. */
  ofInstallation(projectId: string): ChatModel {
    const { installation } = this.#deps;
    return {
      name: installation.name,
      stream: (request, signal) => this.#counted(projectId, request, installation.stream(request, signal)),
    };
  }

  close(): Promise<void> {
    return this.#clients.close();
  }

  async *#stream(
    projectId: string,
    choices: readonly ChatChoice[],
    mode: keyof ChatTiers,
    request: ChatRequest,
    signal: AbortSignal,
    onFallback: (fallback: ChatFallback) => void,
  ): AsyncGenerator<ChatEvent, void> {
    const own = await this.#deps.projectCredentials.of(projectId);
    const candidates = this.#allowed(choices).map((choice) => {
      const access = this.#access(projectId, choice, own);
      return { model: { choice, access }, name: this.#nameOf(choice, mode), breaker: access.breaker };
    });
    yield* streamWithFailover(
      {
        candidates,
        clock: this.#deps.clock,
        breakers: this.#breakers,
        ask: ({ model }, attemptSignal) => this.#ask(projectId, mode, request, model, attemptSignal),
        firstOutputMs: ({ model }, hasNext) => (hasNext ? patienceMs(request, model.choice) : undefined),
        late: lateAnswer,
        onFallback: (from, to, error) =>
          onFallback({
            from: from.name,
            to: to.name,
            reason: error.message,
            model: this.#modelOf(to.model.choice, mode),
          }),
      },
      signal,
    );
  }

  async *#ask(
    projectId: string,
    mode: keyof ChatTiers,
    request: ChatRequest,
    { choice, access }: Chosen,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, void> {
    const { key, client } = this.#client(choice, access);
    try {
      const { chat, onlyModel = this.#modelOf(choice, mode) } = await client;
      if (choice.model !== undefined) this.#deps.onModelUsed(onlyModel);
      const asked = settingsOf(request, choice, onlyModel);
      const answer = chat.stream(asked, signal);
      yield* access.owner === 'project' ? answer : this.#counted(projectId, asked, answer);
    } finally {
      this.#clients.release(key);
    }
  }

  /** Tokens are estimated where the endpoint reports none, and for an answer that is not read to its end. */
  async *#counted(
    projectId: string,
    { messages, tools }: ChatRequest,
    answer: AsyncIterable<ChatEvent>,
  ): AsyncGenerator<ChatEvent, void> {
    let reported: number | undefined;
    let written: string | undefined;
    try {
      for await (const event of answer) {
        written ??= '';
        if (event.type === 'text') written += event.text;
        if (event.type === 'tool_call') written += event.arguments;
        if (event.type === 'end') reported = event.usage?.totalTokens;
        yield event;
      }
    } finally {
      // A request that failed before its answer began costs nothing.
      if (written !== undefined) {
        const tokens = reported ?? estimateTokens(JSON.stringify([messages, tools]) + written);
        this.#deps.usage.add(projectId, { installationTokens: tokens });
      }
    }
  }

  /**
   * Drops the models that the operator does not allow; an agent may be older than the operator's list. @throws
   * {ModelError} `model_rejected` when none is left.
   */
  #allowed(choices: readonly ChatChoice[]): readonly ChatChoice[] {
    const allowed = choices.filter(({ model }) => model === undefined || this.#deps.allowsModel(model));
    if (allowed.length > 0) return allowed;
    throw new ModelError('model_rejected', 'The operator does not allow the models that the agent names');
  }

  /** @returns The client, which is kept until the key is released. */
  #client(
    { endpoint: named }: ChatChoice,
    { credentials, guard, owner }: ChatAccess,
  ): { readonly key: string; readonly client: OpenChat | Promise<OpenChat> } {
    const { installation, endpoint: ofInstallation, open } = this.#deps;
    const endpoint = named ?? ofInstallation;
    if (owner === 'installation' && endpoint === ofInstallation)
      return { key: '', client: { chat: installation } };
    const key = digestOf([endpoint, credentials]);
    return { key, client: this.#clients.use(key, () => open(endpoint, credentials, guard, owner)) };
  }

  /** A project's failures are its own: its requests may be what an endpoint refuses. */
  #access(projectId: string, choice: ChatChoice, own: readonly ProviderCredentials[]): ChatAccess {
    const endpoint = choice.endpoint ?? this.#deps.endpoint;
    const name = credentialName('chat', endpoint);
    const installation = name === undefined ? {} : this.#deps.credentials(name);
    const access = accessOf(name, own, installation, this.#deps.guard);
    return { ...access, breaker: digestOf([projectId, endpoint, choice.model, access.credentials]) };
  }

  #modelOf({ model, endpoint = this.#deps.endpoint }: ChatChoice, mode: keyof ChatTiers): string {
    return model ?? this.#deps.models(endpoint)[mode];
  }

  #nameOf(choice: ChatChoice, mode: keyof ChatTiers): string {
    return `${choice.endpoint ?? this.#deps.endpoint}/${this.#modelOf(choice, mode)}`;
  }
}

function patienceMs({ purpose }: ChatRequest, { reasoningEffort }: ChatChoice): number | undefined {
  return !AWAITED.has(purpose) || REASONING.has(reasoningEffort) ? undefined : SLOW_MS;
}

/**
 * Merges the settings. Those of the client precede those of the agent. The engine's own requests have their own
 * temperature.
 */
function settingsOf(
  request: ChatRequest,
  { temperature, maxTokens, reasoningEffort }: ChatChoice,
  model: string,
): ChatRequest {
  const isAnswer = request.purpose === 'answer' || request.purpose === 'answer_and_route';
  return {
    ...request,
    model,
    temperature: request.temperature ?? (isAnswer ? temperature : undefined),
    maxOutputTokens: request.maxOutputTokens ?? (isAnswer ? maxTokens : undefined),
    ...(reasoningEffort === undefined
      ? {}
      : { passthrough: { reasoning_effort: reasoningEffort, ...request.passthrough } }),
  };
}

function digestOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
