import {
  formatTraceparent,
  parseTraceparent,
  type SpanAttributes,
  type Tracer,
} from '../../src/base/tracing.ts';

/** One recorded span. */
export interface RecordedSpan {
  readonly name: string;
  /** Name of the parent span. */
  readonly parent: string | undefined;
  readonly startMs: number;
  readonly attributes: Record<string, unknown>;
  readonly failure: unknown;
  /** Undefined until the span ends. */
  readonly endMs: number | undefined;
}

export interface RecordedTraces {
  readonly tracing: Tracer;
  /** In order of start. */
  readonly spans: readonly RecordedSpan[];
}

/** A tracer that records every span. */
export function recordTraces(now: () => number): RecordedTraces {
  const spans: { -readonly [Field in keyof RecordedSpan]: RecordedSpan[Field] }[] = [];
  const spanIdOf = (index: number) => (index + 1).toString(16).padStart(16, '0');
  return {
    spans,
    tracing: {
      startSpan(name, { parent, attributes = {}, startMs = now() } = {}) {
        const context = parseTraceparent(parent);
        const index = spans.length;
        const parentName = spans.find((_, other) => spanIdOf(other) === context?.spanId)?.name;
        const given = { ...attributes };
        const span = {
          name,
          parent: parentName,
          startMs,
          attributes: given as Record<string, unknown>,
          failure: undefined as unknown,
          endMs: undefined as number | undefined,
        };
        spans.push(span);
        return {
          traceparent: formatTraceparent({
            traceId: context?.traceId ?? 'ab'.repeat(16),
            spanId: spanIdOf(index),
            flags: 1,
          }),
          setAttributes: (more: SpanAttributes) => void Object.assign(given, more),
          recordError(error) {
            span.failure = error;
          },
          end(endMs = now()) {
            span.endMs ??= endMs;
          },
        };
      },
    },
  };
}
