/** Attributes of a span; undefined values are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** `traceparent` of the parent span. Without it the span starts a new trace. */
  readonly parent?: string | undefined;
  /** The span kind of OpenTelemetry. Default: `internal`. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: SpanAttributes;
  /** Unix time in ms; default now. */
  readonly startMs?: number | undefined;
}

/** One operation in a trace. */
export interface Span {
  /** The value to pass to the next service; undefined without tracing. */
  readonly traceparent: string | undefined;
  setAttributes(attributes: SpanAttributes): void;
  recordError(error: unknown): void;
  /** Later calls have no effect. @param endMs - Unix time in ms; default now. */
  end(endMs?: number): void;
}

/** Creates spans. Never fails or blocks. */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Records nothing and passes the caller's trace context on. */
export const noopTracer: Tracer = {
  startSpan: (_name, { parent } = {}) => ({
    traceparent: parent,
    setAttributes: () => undefined,
    recordError: () => undefined,
    end: () => undefined,
  }),
};

export interface TraceContext {
  /** 16 bytes in hex. */
  readonly traceId: string;
  /** 8 bytes in hex. */
  readonly spanId: string;
  /** Bit 0: sampled. */
  readonly flags: number;
}

/** @returns The trace context; undefined when the text is not a `traceparent` of version 00. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string') return undefined;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** Log fields that join the lines of one trace over all nodes. */
export function traceLogFields(traceparent: string | undefined): { readonly traceId?: string } {
  const context = parseTraceparent(traceparent);
  return context ? { traceId: context.traceId } : {};
}

/** Runs work in a span; records its error and ends the span. */
export async function withSpan<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    span.recordError(error);
    throw error;
  } finally {
    span.end();
  }
}
