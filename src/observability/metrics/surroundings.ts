import { Gauge, type Registry } from 'prom-client';

/** Measures what a node depends on, at each scrape. What cannot be measured has no value then. */
export interface Surroundings {
  /** Whether each dependency answers, by name. */
  readonly dependencies: () => Promise<ReadonlyMap<string, boolean>>;
  readonly disk: () => Promise<{ readonly freeBytes: number; readonly sizeBytes: number }>;
  /** How far this node's clock is ahead of the database's. */
  readonly clockOffsetMs: () => Promise<number>;
  /** The time that the oldest due webhook event has waited; 0 without one. */
  readonly webhookDelayMs: () => Promise<number>;
  /** End of the SIP certificate’s validity; undefined without TLS. */
  readonly certificateEndMs?: () => Promise<number>;
}

/** Gauges of the services, the disk, the clock and the certificate that a node needs. */
export function registerSurroundings(registry: Registry, surroundings: Surroundings): void {
  const { dependencies, disk, clockOffsetMs, webhookDelayMs, certificateEndMs } = surroundings;
  new Gauge({
    name: 'callway_dependency_up',
    help: '1 while a service that this node needs answers, else 0.',
    labelNames: ['dependency'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [dependency, isUp] of await dependencies()) this.set({ dependency }, isUp ? 1 : 0);
    },
  });
  const gauge = (name: string, help: string, measure: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await measure().catch(() => Number.NaN));
      },
    });
  gauge('callway_disk_free_bytes', 'Free space of the data folder.', async () => (await disk()).freeBytes);
  gauge('callway_disk_size_bytes', 'Size of the data folder’s disk.', async () => (await disk()).sizeBytes);
  gauge('callway_clock_offset_seconds', 'How far this node’s clock is ahead of the database’s.', async () => {
    return (await clockOffsetMs()) / 1000;
  });
  gauge('callway_webhook_delay_seconds', 'How long the oldest due webhook event has waited.', async () => {
    return (await webhookDelayMs()) / 1000;
  });
  if (certificateEndMs) {
    gauge('callway_certificate_end_seconds', 'When the SIP certificate ends, in Unix time.', async () => {
      return (await certificateEndMs()) / 1000;
    });
  }
}
