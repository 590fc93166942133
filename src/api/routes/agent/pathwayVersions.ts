import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { actorOf } from '../../../agents/accounts/principal.ts';
import type { StoredPathway } from '../../../agents/agentStores.ts';
import type { PathwayEdit } from '../../../agents/pathway/editPathway.ts';
import { pathwaySchema } from '../../../agents/pathway/schema/pathwaySchema.ts';
import type { Clock } from '../../../base/clock.ts';
import { invalid } from '../../../base/errors.ts';
import { keyOf } from '../../plugins/accessControl.ts';

/** A pathway as the API shows it. */
export const pathwayAnswer = z
  .object({
    id: z.uuid(),
    version: z.int().describe('Counts up with each change; the ETag too.'),
    updatedAt: z.iso.datetime(),
    ...pathwaySchema.shape,
  })
  .meta({ id: 'StoredPathway' });

/** A whole graph to be saved; what an answer holds beside the graph may be sent back and is passed over. */
export const pathwayBody = pathwaySchema.extend({
  id: z.unknown().optional(),
  version: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
});

export const ifMatchHeaders = z.object({
  'if-match': z
    .string()
    .optional()
    .describe('The version (ETag) that the edit is based on; another gives 412.'),
});

/** Shows a pathway, with its version as the ETag. @see RFC 9110 section 8.8.3 */
export function showPathway(reply: FastifyReply, pathway: StoredPathway) {
  tagVersion(reply, pathway);
  return { id: pathway.id, version: pathway.version, updatedAt: pathway.updatedAt, ...pathway.graph };
}

export function tagVersion(reply: FastifyReply, pathway: StoredPathway): void {
  reply.header('etag', `"${pathway.version}"`);
}

/** Who edits, when, and on what version. */
export function editOf(request: FastifyRequest, clock: Clock): PathwayEdit {
  return {
    author: actorOf(keyOf(request)),
    at: new Date(clock.now()).toISOString(),
    ifVersion: versionOf(request.headers['if-match']),
  };
}

function versionOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const [, version] = /^\s*(?:W\/)?"?(\d{1,9})"?\s*$/.exec(ifMatch) ?? [];
  if (version === undefined) throw invalid('invalid_if_match', 'If-Match must be a version such as "3"');
  return Number(version);
}
