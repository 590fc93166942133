import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

import { CallwayError } from '../../base/errors.ts';
import {
  formatTraceparent,
  parseTraceparent,
  type Span,
  type SpanAttributes,
  type SpanOptions,
  type Tracer,
} from '../../base/tracing.ts';

export interface OpenTelemetryOptions {
  /** Base URL of an OTLP/HTTP collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Identifies this node. */
  readonly instanceId: string;
  /** Sampling ratio of traces without a sampling decision of their parent, 0 to 1. */
  readonly ratio: number;
  /** Called when spans could not be exported and are lost. */
  readonly onError: (error: unknown) => void;
}

export interface OpenTelemetry extends Tracer {
  /** Exports the remaining spans within seconds. Idempotent. */
  close(): Promise<void>;
}

/** A call can be followed in the collector with this delay. */
const EXPORT_EVERY_MS = 1_000;
/** An unreachable collector must not delay the shutdown. */
const EXPORT_TIMEOUT_MS = 5_000;

const KINDS: Readonly<Record<NonNullable<SpanOptions['kind']>, SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/**
 * Exports spans to an OpenTelemetry collector, in batches and in the background.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export function openTelemetry(options: OpenTelemetryOptions): OpenTelemetry {
  const { endpoint, headers, serviceName, instanceId, ratio, onError } = options;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    httpAgentOptions: { keepAlive: false },
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.instance.id': instanceId,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportingErrors(exporter, onError),
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('callway');
  let closing: Promise<void> | undefined;
  return {
    startSpan(name, { parent, kind = 'internal', attributes = {}, startMs } = {}) {
      const settings = {
        kind: KINDS[kind],
        attributes: { ...attributes },
        startTime: startMs,
      };
      return spanOf(tracer.startSpan(name, settings, contextOf(parent)));
    },
    close() {
      closing ??= provider.shutdown().catch(onError);
      return closing;
    },
  };
}

function contextOf(parent: string | undefined): Context {
  const read = parseTraceparent(parent);
  if (!read) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = read;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true });
}

function spanOf(span: ReturnType<ReturnType<TracerProvider['getTracer']>['startSpan']>): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: formatTraceparent({ traceId, spanId, flags: traceFlags }),
    setAttributes: (attributes: SpanAttributes) => void span.setAttributes({ ...attributes }),
    recordError(error) {
      // An error message may contain spoken words or dialed numbers; a code never does.
      const code =
        error instanceof CallwayError ? error.code : error instanceof Error ? error.name : 'unknown';
      span.setStatus({ code: SpanStatusCode.ERROR, message: code });
      span.setAttribute('error.type', code);
    },
    end: (endMs) => span.end(endMs),
  };
}

/** BatchSpanProcessor does not report failed exports. */
function reportingErrors(exporter: SpanExporter, onError: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0) onError(result.error ?? new Error('the collector did not accept the spans'));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush ? { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() } : {}),
  };
}
