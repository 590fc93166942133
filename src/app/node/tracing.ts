import type { Logger } from 'pino';

import { noopTracer, type Tracer } from '../../base/tracing.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Config } from '../settings/config.ts';

/** Exports spans to the configured collector; without one, the exporter is not even loaded. */
export async function buildTracing(
  config: Config,
  instanceId: string,
  logger: Logger,
  lifecycle: Lifecycle,
): Promise<Tracer> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return noopTracer;
  const { openTelemetry } = await import('../../observability/tracing/openTelemetry.ts');
  const tracing = openTelemetry({
    endpoint,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: config.OTEL_SERVICE_NAME,
    instanceId,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    onError: (error) => logger.warn({ err: error }, 'trace export failed'),
  });
  lifecycle.onClose(() => tracing.close());
  return tracing;
}
