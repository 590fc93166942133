import { Counter, Histogram, Registry } from 'prom-client';

import type { HttpMetrics } from './ports.ts';

/** The buckets reach from a memory lookup to a slow model. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What other rooms report at `/metrics`. */
export interface OtherMetrics {
  readonly registry: Registry;
  /** Texts in Prometheus format. */
  readonly texts: readonly (() => Promise<string>)[];
}

/** @see https://prometheus.io/docs/practices/naming/ */
export function createHttpMetrics(
  { registry, texts }: OtherMetrics = { registry: new Registry(), texts: [] },
): HttpMetrics {
  const durations = new Histogram({
    name: 'callway_http_request_duration_seconds',
    help: 'Time from a request’s arrival to the end of its response.',
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
    contentType: registry.contentType,
    async render() {
      const parts = await Promise.all([registry.metrics(), ...texts.map((text) => text())]);
      return `${parts.filter((part) => part !== '').join('\n')}\n`;
    },
    observeRequest: (labels, seconds) => durations.observe(labels, seconds),
    countLegacyRequest: (labels) => legacy.inc(labels),
  };
}
