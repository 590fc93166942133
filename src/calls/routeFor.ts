import { candidateTrunks } from './candidateTrunks.ts';
import type { TrunkHealthBoard } from './coordination.ts';
import { upFirst } from './routing.ts';
import type { PhoneNumberStore, TrunkStore } from './stores.ts';
import type { Trunk } from './trunk.ts';

export interface RouteDeps {
  readonly phoneNumbers: Pick<PhoneNumberStore, 'findByNumber'>;
  readonly trunks: Pick<TrunkStore, 'activeOf'>;
  readonly health: Pick<TrunkHealthBoard, 'read'>;
}

/**
 * The trunks that a call from this number of the project's may take now, in the order of trial.
 *
 * @returns None where the number is not the project's, or places no calls.
 */
export async function routeFor(
  { phoneNumbers, trunks, health }: RouteDeps,
  projectId: string,
  fromNumber: string,
): Promise<readonly Trunk[]> {
  const number = await phoneNumbers.findByNumber(projectId, fromNumber);
  if (number?.outboundStatus !== 'active') return [];
  const candidates = candidateTrunks(number, await trunks.activeOf(projectId));
  return upFirst(candidates, await health.read(candidates.map(({ id }) => id)));
}
