import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { actorOf } from '../../../agents/accounts/principal.ts';
import type { StoredPathway } from '../../../agents/agentStores.ts';
import type { PathwayEdit } from '../../../agents/pathway/editPathway.ts';
import { invalid } from '../../../base/errors.ts';
import { keyOf } from '../../plugins/accessControl.ts';

export const ifMatchHeaders = z.object({
  'if-match': z
    .string()
    .optional()
    .describe('The version (ETag) that the edit is based on; any other version gives 412.'),
});

/** Sets the version as the ETag. @see RFC 9110 section 8.8.3 */
export function setVersionTag(reply: FastifyReply, { version }: StoredPathway): void {
  reply.header('etag', `"${version}"`);
}

/** The author, the time and the expected version of an edit. @param now - ISO 8601. */
export function editOf(request: FastifyRequest, now: string): PathwayEdit {
  return {
    author: actorOf(keyOf(request)),
    at: now,
    ifVersion: expectedVersion(request.headers['if-match']),
  };
}

function expectedVersion(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const [, version] = /^\s*(?:W\/)?"?(\d{1,9})"?\s*$/.exec(ifMatch) ?? [];
  if (version === undefined) throw invalid('invalid_if_match', 'If-Match must be a version such as "3"');
  return Number(version);
}
