import { Gauge, type Registry } from 'prom-client';

/** @param states - The states of the providers, by name. */
export function registerProviderHealth(
  registry: Registry,
  states: () => Readonly<Record<string, { readonly status: 'up' | 'degraded' }>>,
): void {
  new Gauge({
    name: 'callway_provider_up',
    help: '1 while a provider of speech or chat did what it was last asked with the installation’s key, else 0.',
    labelNames: ['provider'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [provider, { status }] of Object.entries(states()))
        this.set({ provider }, status === 'up' ? 1 : 0);
    },
  });
}
