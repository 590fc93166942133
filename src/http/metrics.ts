import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

import type { Metrics } from './ports.ts';

/** From a memory lookup to a slow model, in seconds. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const LABELS = ['method', 'route', 'status'] as const;
type Label = (typeof LABELS)[number];

/** @see https://prometheus.io/docs/practices/naming/ */
export function createMetrics(): Metrics & { readonly registry: Registry } {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'callway_http_request_duration_seconds',
    help: 'Time from a request’s arrival to the end of its answer.',
    labelNames: LABELS,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const legacy = new Counter({
    name: 'callway_legacy_requests_total',
    help: 'Requests to legacy routes.',
    labelNames: ['project', 'route'],
    registers: [registry],
  });
  // A histogram hashes its labels anew with each value; one that is bound to them does not. There are as many as there
  // are routes and statuses, since a route is its pattern.
  const bound = new Map<string, Histogram.Internal<Label>>();
  const durationsOf = (labels: Record<Label, string | number>) => {
    const key = `${labels.method} ${labels.status} ${labels.route}`;
    const known = bound.get(key) ?? durations.labels(labels);
    bound.set(key, known);
    return known;
  };
  return {
    registry,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    requestDone: (labels, seconds) => durationsOf(labels).observe(seconds),
    legacyRequest: (labels) => legacy.inc(labels),
  };
}
