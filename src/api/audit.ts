import type { FastifyRequest } from 'fastify';

import type { AuditAction } from '../agents/accounts/audit.ts';
import { actorOf } from '../agents/accounts/principal.ts';
import { principalOf } from './plugins/accessControl.ts';
import type { HttpDeps, Stores } from './ports.ts';

export interface AuditedChange {
  readonly action: AuditAction;
  readonly projectId: string | null;
  /** Id of the changed resource. */
  readonly target: string;
  readonly details?: Record<string, unknown>;
}

/** Appends a change to the audit log, in the transaction of the change. */
export async function audit(
  deps: HttpDeps,
  stores: Stores,
  request: FastifyRequest,
  { action, projectId, target, details = {} }: AuditedChange,
): Promise<void> {
  await stores.audit.append({
    id: deps.makeId(),
    projectId,
    at: new Date(deps.clock.now()).toISOString(),
    actor: actorOf(principalOf(request)),
    action,
    target,
    details,
    requestId: request.id,
  });
}
