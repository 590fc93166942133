import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

import type { Metrics } from './ports.ts';
import { createRequestDurations } from './requestDurations.ts';

/** @see https://prometheus.io/docs/practices/naming/ */
export function createMetrics(): Metrics & { readonly registry: Registry } {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = createRequestDurations();
  const legacy = new Counter({
    name: 'callway_legacy_requests_total',
    help: 'Requests to legacy routes.',
    labelNames: ['project', 'route'],
    registers: [registry],
  });
  return {
    registry,
    contentType: registry.contentType,
    render: async () => `${await registry.metrics()}\n${durations.render()}`,
    requestDone: durations.observe,
    legacyRequest: (labels) => legacy.inc(labels),
  };
}
