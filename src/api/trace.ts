import type { FastifyRequest } from 'fastify';

import { parseTraceparent } from '../base/tracing.ts';

/** The trace that a request belongs to; one that cannot be read is as good as none. */
export function traceparentOf({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' && parseTraceparent(traceparent) ? traceparent : undefined;
}
