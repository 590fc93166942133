/** What a stretch of work is told by; fields that are undefined are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** The `traceparent` of the span that this one is a part of; none begins a trace. */
  readonly parent?: string | undefined;
  /** `server` and `consumer` answer somebody's wish, `client` and `producer` have one. Default: `internal`. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: SpanAttributes;
  /** When it began, in ms since the Unix epoch; default now. */
  readonly startMs?: number | undefined;
}

/** One stretch of work in a trace. */
export interface Span {
  /** For whoever goes on with it elsewhere, as the header of this name; undefined where nobody traces. */
  readonly traceparent: string | undefined;
  setAttributes(attributes: SpanAttributes): void;
  recordError(error: unknown): void;
  /** The first time counts. @param endMs - In ms since the Unix epoch; default now. */
  end(endMs?: number): void;
}

/** Tells an operator's tracing what was done, and for whom. Nothing here fails or waits. */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Keeps no spans, and hands on who the caller's trace is. */
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
  /** Bit 0: it is sampled. */
  readonly flags: number;
}

/** @returns Undefined for what is no `traceparent` of version 00. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string') return undefined;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** For log lines, so that those of one trace are found over all nodes. */
export function traceLogFields(traceparent: string | undefined): { readonly traceId?: string } {
  const context = parseTraceparent(traceparent);
  return context ? { traceId: context.traceId } : {};
}

/** Runs work as a span of its own. */
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
