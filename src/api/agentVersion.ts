import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { keyOf } from './plugins/accessControl.ts';

export const AGENT_VERSION_HEADER = 'x-agent-version';

export const agentVersionHeaders = z.object({
  [AGENT_VERSION_HEADER]: z
    .string()
    .optional()
    .describe(
      '`draft` lets a developer key begin a session on the working copy; of other keys it is ignored.',
    ),
});

/** Whether a session that this request makes is to run on the working copy. */
export function wantsDraft(request: FastifyRequest): boolean {
  return request.headers[AGENT_VERSION_HEADER] === 'draft' && keyOf(request).kind === 'developer';
}
