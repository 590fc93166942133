import type { FastifyRequest } from 'fastify';

import { actorOf } from '../agents/accounts/principal.ts';
import { principalOf } from './plugins/accessControl.ts';
import type { HttpDeps, Stores } from './ports.ts';

export interface Audited {
  readonly action: string;
  readonly projectId: string | null;
  readonly target: string;
  readonly details?: Record<string, unknown>;
}

/** Writes down who changed what, in the transaction of the change. */
export async function audit(
  deps: Pick<HttpDeps, 'clock' | 'makeId'>,
  stores: Pick<Stores, 'audit'>,
  request: FastifyRequest,
  entry: Audited,
): Promise<void> {
  await stores.audit.append({
    id: deps.makeId(),
    projectId: entry.projectId,
    at: new Date(deps.clock.now()).toISOString(),
    actor: actorOf(principalOf(request)),
    action: entry.action,
    target: entry.target,
    details: entry.details ?? {},
    requestId: request.id,
  });
}
