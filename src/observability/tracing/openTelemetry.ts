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
  /** Of an OTLP/HTTP collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** This node among the service's. */
  readonly instanceId: string;
  /** 0 to 1: the share of traces that are kept, of those that nobody decided about before. */
  readonly ratio: number;
  /** Spans could not be sent, and are lost. */
  readonly onError: (error: unknown) => void;
}

export interface OpenTelemetry extends Tracer {
  /** Sends what is left, within some seconds. Idempotent. */
  close(): Promise<void>;
}

/** Who follows a call as it goes waits no longer than this. */
const EXPORT_EVERY_MS = 1_000;
/** A collector that is away must not hold up the end of the process. */
const EXPORT_TIMEOUT_MS = 5_000;

const KINDS: Readonly<Record<NonNullable<SpanOptions['kind']>, SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/**
 * Sends spans to an OpenTelemetry collector, in batches, behind everybody's back.
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
        exporter: telling(exporter, onError),
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
        ...(startMs === undefined ? {} : { startTime: startMs }),
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
      // What an error says may hold what somebody said or dialled; its code never does.
      const code =
        error instanceof CallwayError ? error.code : error instanceof Error ? error.name : 'unknown';
      span.setStatus({ code: SpanStatusCode.ERROR, message: code });
      span.setAttribute('error.type', code);
    },
    end: (endMs) => span.end(endMs),
  };
}

/** The processor itself tells nobody that an export has failed. */
function telling(exporter: SpanExporter, onError: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0) onError(result.error ?? new Error('the collector did not take the spans'));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush ? { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() } : {}),
  };
}
