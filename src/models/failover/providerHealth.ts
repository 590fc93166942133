import type { Clock } from '../../base/values/clock.ts';
import type { MetricsOfProvider, ModelKind } from '../ports/metrics.ts';
import { ENGINE_PROVIDERS, engineCredentialName } from '../ports/providerNames.ts';

export type ProviderState =
  | { readonly status: 'up' }
  | { readonly status: 'degraded'; readonly reason: string };

/** A provider has failed after it worked, or works again. */
export type ProviderChange =
  | { readonly isDegraded: true; readonly provider: string; readonly message: string }
  | { readonly isDegraded: false; readonly provider: string; readonly degradedMs: number };

export interface ProviderHealthDeps {
  /** The providers that the settings name. They are shown before their first use. */
  readonly expected: readonly { readonly model: ModelKind; readonly provider: string }[];
  readonly clock: Clock;
  readonly onChange: (change: ProviderChange) => void;
}

interface Degradation {
  readonly sinceMs: number;
  /** The messages of the last failures, by kind of model. */
  readonly messages: Map<ModelKind, string>;
}

/** Tracks whether the speech and chat providers work, from their last answers. */
export class ProviderHealth {
  readonly #deps: ProviderHealthDeps;
  readonly #known: Set<string>;
  readonly #degraded = new Map<string, Degradation>();

  constructor(deps: ProviderHealthDeps) {
    this.#deps = deps;
    this.#known = new Set(deps.expected.map(({ model, provider }) => shownName(model, provider)));
  }

  failed(model: ModelKind, name: string, message: string): void {
    const { clock, onChange } = this.#deps;
    const provider = shownName(model, name);
    this.#known.add(provider);
    const known = this.#degraded.get(provider);
    const { messages } = known ?? { messages: new Map() };
    messages.set(model, message);
    if (known) return;
    this.#degraded.set(provider, { sinceMs: clock.monotonicMs(), messages });
    onChange({ isDegraded: true, provider, message });
  }

  worked(model: ModelKind, name: string): void {
    const { clock, onChange } = this.#deps;
    const provider = shownName(model, name);
    this.#known.add(provider);
    const known = this.#degraded.get(provider);
    if (!known?.messages.delete(model) || known.messages.size > 0) return;
    this.#degraded.delete(provider);
    onChange({ isDegraded: false, provider, degradedMs: Math.round(clock.monotonicMs() - known.sinceMs) });
  }

  /**
   * Returns the states by provider name. The reasons are our own words, since a provider's message may reveal too much.
   */
  states(): Readonly<Record<string, ProviderState>> {
    const stateOf = (provider: string): ProviderState => {
      const [message] = this.#degraded.get(provider)?.messages.values() ?? [];
      if (message === undefined) return { status: 'up' };
      return { status: 'degraded', reason: message.split(': ')[0] ?? message };
    };
    return Object.fromEntries([...this.#known].sort().map((provider) => [provider, stateOf(provider)]));
  }
}

/**
 * Creates metrics that also report the health. Failures with a project's own key do not count, and embedding models are
 * not shown.
 */
export function withProviderHealth(metricsOf: MetricsOfProvider, health: ProviderHealth): MetricsOfProvider {
  return (model, provider, owner = 'installation') => {
    const metrics = metricsOf(model, provider, owner);
    if (owner === 'project' || model === 'embedding') return metrics;
    return {
      recordError(error) {
        metrics.recordError(error);
        health.failed(model, provider, error.message);
      },
      recordFirstOutput(waitedMs) {
        metrics.recordFirstOutput(waitedMs);
        health.worked(model, provider);
      },
      recordOutput() {
        metrics.recordOutput();
        health.worked(model, provider);
      },
    };
  };
}

/** Formats a provider's name in the form that credentials use. */
function shownName(model: ModelKind, provider: string): string {
  if (model === 'speech_to_speech') {
    const engine = ENGINE_PROVIDERS.find((name) => name === provider);
    return engine ? engineCredentialName(engine) : provider;
  }
  if (provider !== 'custom') return provider;
  return model === 'transcription' ? 'custom_stt' : 'custom_tts';
}
