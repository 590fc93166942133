import { actorOf } from '../accounts/principal.js';
import { principalOf } from './access.js';
/** Writes down who changed what, in the transaction of the change. */
export async function audit(deps, stores, request, entry) {
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
