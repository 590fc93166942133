import { hash } from 'node:crypto';
import type { UsageCounter } from '../../agents/accounts/usage.ts';
import { chatAmounts } from '../../agents/cost/usage.ts';
import type { EngineConfig } from '../../agents/speech/engineConfig.ts';
import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { TargetGuard } from '../../http/lookup.ts';
import type { CredentialName } from '../../vendors/credentials.ts';
import { ENGINES } from '../../vendors/registry.ts';
import { countedEngine } from '../countedSpeech.ts';
import { type Breakers, createBreakers } from '../failover/circuitBreaker.ts';
import type { MetricsOfProvider } from '../ports/metrics.ts';
import { skippedError } from '../ports/modelError.ts';
import { engineCredentialName } from '../ports/providerNames.ts';
import type { SpeechToSpeech } from '../ports/speechToSpeech.ts';
import type { Credentials, ProviderOptions } from '../providerOptions.ts';
import type { CallEngines, OnUsed, SpeechEngines } from './callProviders.ts';
import { type Access, accessOf } from './credentialAccess.ts';
import { VendorCache } from './vendorCache.ts';

export interface SpeechEnginesDeps {
  /** Returns the installation's credentials. */
  readonly credentials: (name: CredentialName) => Credentials;
  readonly projectCredentials: (projectId: string) => Promise<readonly ProviderCredentials[]>;
  /** Checks addresses that projects configure. */
  readonly guard: TargetGuard;
  readonly options: (credentials: Credentials) => ProviderOptions;
  readonly metrics: MetricsOfProvider;
  /** Counts what runs on the installation's credentials. */
  readonly usage: UsageCounter;
  readonly clock: Clock;
  /** Reports each model that an agent names and that is opened. */
  readonly onModelUsed: (model: string) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** The speech-to-speech models that agents and nodes name, by the credentials of their projects. */
export class SelectedSpeechEngines implements SpeechEngines {
  readonly #deps: SpeechEnginesDeps;
  readonly #vendors: VendorCache<SpeechToSpeech>;
  /** The circuit breakers of the models, by model and key. */
  readonly #breakers: Breakers;

  constructor(deps: SpeechEnginesDeps) {
    this.#deps = deps;
    this.#vendors = new VendorCache((error) => deps.onError(error, 'speech-to-speech model not closed'));
    this.#breakers = createBreakers(deps.clock);
  }

  open(projectId: string, onUsed: OnUsed): CallEngines {
    const { usage } = this.#deps;
    const keys = new Set<string>();
    return {
      find: async (config) => {
        const access = await this.#access(projectId, config);
        const key = hash('sha256', JSON.stringify([projectId, config, access.credentials]), 'hex');
        if (!this.#breakers.isClosed(key)) throw skippedError();
        const vendor = await this.#vendors.use(key, () => this.#create(config, access));
        if (keys.has(key)) this.#vendors.release(key);
        keys.add(key);
        const model = countedEngine(vendor, (tokens) => {
          onUsed(chatAmounts(vendor.model, tokens));
          if (access.owner === 'installation')
            usage.add(projectId, { installationTokens: tokens.totalTokens });
        });
        const { provider } = config;
        const metrics = this.#deps.metrics('speech_to_speech', provider, access.owner);
        return { model, name: provider, breaker: key, metrics };
      },
      breakers: this.#breakers,
      close: () => {
        for (const key of keys) this.#vendors.release(key);
        keys.clear();
      },
    };
  }

  close(): Promise<void> {
    return this.#vendors.close();
  }

  async #access(projectId: string, { provider }: EngineConfig): Promise<Access> {
    const { credentials, projectCredentials, guard } = this.#deps;
    const name = engineCredentialName(provider);
    return accessOf(name, await projectCredentials(projectId), credentials(name), guard);
  }

  #create({ provider, model, voice }: EngineConfig, { credentials, guard }: Access): Promise<SpeechToSpeech> {
    if (model !== undefined) this.#deps.onModelUsed(model);
    return ENGINES[provider]({ ...this.#deps.options(credentials), model, voice, guard });
  }
}
