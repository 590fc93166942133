import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import { createRequestDurations } from './requestDurations.js';
/** @see https://prometheus.io/docs/practices/naming/ */
export function createMetrics() {
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
