import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

import type { Metrics } from './ports.ts';

/** From a memory lookup to a slow model, in seconds. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** @see https://prometheus.io/docs/practices/naming/ */
export function createMetrics(): Metrics & { readonly registry: Registry } {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'callway_http_request_duration_seconds',
    help: 'Time from a request’s arrival to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const legacy = new Counter({
    name: 'callway_legacy_requests_total',
    help: 'Requests to legacy routes.',
    labelNames: ['project', 'route'],
    registers: [registry],
  });
  return {
    registry,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    requestDone: (labels, seconds) => durations.observe(labels, seconds),
    legacyRequest: (labels) => legacy.inc(labels),
  };
}
