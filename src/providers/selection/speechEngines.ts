import { hash } from 'node:crypto';
import type { EngineConfig } from '../../agents/speech/engineConfig.ts';
import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import type { Clock } from '../../base/clock.ts';
import type { WebSocketGuard } from '../../infra/httpClient/webSocket.ts';
import type { CallEngines, SpeechEngines } from '../../voice/speechProviders.ts';
import { type Breakers, createBreakers } from '../circuitBreaker.ts';
import { skippedError } from '../ports/modelError.ts';
import { type CredentialName, engineCredentialName } from '../ports/providerNames.ts';
import type { SpeechToSpeech } from '../ports/speechToSpeech.ts';
import type { Credentials, ProviderOptions } from '../providerOptions.ts';
import { ENGINES } from '../registry.ts';
import { VendorCache } from './vendorCache.ts';

export interface SpeechEnginesDeps {
  /** The installation's. */
  readonly credentials: (name: CredentialName) => Credentials;
  readonly projectCredentials: (projectId: string) => Promise<readonly ProviderCredentials[]>;
  /** What an address of a project is held to. */
  readonly guard: WebSocketGuard;
  readonly options: (credentials: Credentials) => ProviderOptions;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** The speech-to-speech models that agents and nodes name, by the credentials of their projects. */
export class SelectedSpeechEngines implements SpeechEngines {
  readonly #deps: SpeechEnginesDeps;
  readonly #vendors: VendorCache<SpeechToSpeech>;
  /** Of each model and key. */
  readonly #breakers: Breakers;

  constructor(deps: SpeechEnginesDeps) {
    this.#deps = deps;
    this.#vendors = new VendorCache((error) => deps.onError(error, 'speech-to-speech model not closed'));
    this.#breakers = createBreakers(deps.clock);
  }

  open(projectId: string): CallEngines {
    const keys = new Map<SpeechToSpeech, string>();
    return {
      find: async (config) => {
        const access = await this.#access(projectId, config);
        const key = hash('sha256', JSON.stringify([projectId, config, access.credentials]), 'hex');
        if (!this.#breakers.isClosed(key)) throw skippedError();
        const engine = await this.#vendors.use(key, () => this.#create(config, access));
        if (keys.has(engine)) this.#vendors.release(key);
        keys.set(engine, key);
        return engine;
      },
      report: (engine, error) => {
        const key = keys.get(engine) ?? '';
        if (error) this.#breakers.failed(key, error);
        else this.#breakers.succeeded(key);
      },
      close: () => {
        for (const key of keys.values()) this.#vendors.release(key);
        keys.clear();
      },
    };
  }

  close(): Promise<void> {
    return this.#vendors.close();
  }

  async #access(projectId: string, { provider }: EngineConfig) {
    const name = engineCredentialName(provider);
    const installation = this.#deps.credentials(name);
    const own = await this.#deps.projectCredentials(projectId);
    const project = own.find((one) => one.name === name);
    if (!project) return { credentials: installation, guard: undefined };
    const { apiKey, baseUrl } = project;
    if (baseUrl === null) return { credentials: { apiKey, baseUrl: installation.baseUrl }, guard: undefined };
    return { credentials: { apiKey, baseUrl }, guard: this.#deps.guard };
  }

  #create(
    { provider, model, voice }: EngineConfig,
    { credentials, guard }: { readonly credentials: Credentials; readonly guard: WebSocketGuard | undefined },
  ): Promise<SpeechToSpeech> {
    return ENGINES[provider]({ ...this.#deps.options(credentials), model, voice, guard });
  }
}
