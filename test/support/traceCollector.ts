import { text } from 'node:stream/consumers';
import { serveOnLoopback } from './loopbackServer.ts';

/** A span in OTLP's JSON format, with its attributes by name. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Resource attributes of the sending process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface TraceCollector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Request headers in order of arrival. */
  readonly headers: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

/** Starts an OTLP/HTTP collector on loopback. @param status - Status of its responses. */
export async function collectTraces(status = 200): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = await serveOnLoopback(async (request, response) => {
    const body = JSON.parse(await text(request));
    headers.push({ ...request.headers, path: request.url });
    spans.push(...read(body));
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  return { url: `http://127.0.0.1:${server.port}`, spans, headers, close: server.close };
}

type KeyValue = { key: string; value: Record<string, unknown> };
type Sent = { resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: unknown[] }[] }[] };

const byName = (attributes: readonly KeyValue[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

function read({ resourceSpans }: Sent): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      (spans as (CollectedSpan & { attributes: KeyValue[] })[]).map((span) => ({
        ...span,
        attributes: byName(span.attributes),
        resource: byName(resource.attributes),
      })),
    ),
  );
}
