import { Counter, Registry } from 'prom-client';

import type { HttpMetrics } from './ports.ts';
import { createRequestDurations } from './requestDurations.ts';

/** What other rooms report, beside the numbers of this one. */
export interface MoreMetrics {
  readonly registry: Registry;
  /** In Prometheus's text format. */
  readonly texts: readonly (() => Promise<string>)[];
}

/** @see https://prometheus.io/docs/practices/naming/ */
export function createHttpMetrics(more: MoreMetrics = { registry: new Registry(), texts: [] }): HttpMetrics {
  const { registry, texts } = more;
  const durations = createRequestDurations();
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
      return `${parts.filter((part) => part !== '').join('\n')}\n${durations.render()}`;
    },
    requestDone: durations.observe,
    legacyRequest: (labels) => legacy.inc(labels),
  };
}
