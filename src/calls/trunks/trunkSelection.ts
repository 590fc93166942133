import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import { candidateTrunks } from './candidateTrunks.ts';
import { reachableFirst } from './routing.ts';
import type { Trunk } from './trunk.ts';
import type { TrunkHealthStore } from './trunkHealth.ts';
import type { TrunkStore } from './trunkStore.ts';

export interface TrunkSelectionDeps {
  readonly phoneNumbers: Pick<PhoneNumberStore, 'findByNumber'>;
  readonly trunks: Pick<TrunkStore, 'activeOf'>;
  readonly health: Pick<TrunkHealthStore, 'read'>;
}

/**
 * The trunks that a call from this number of the project's may take now, in the order of trial.
 *
 * @returns None where the number is not the project's, or places no calls.
 */
export async function selectTrunks(
  { phoneNumbers, trunks, health }: TrunkSelectionDeps,
  projectId: string,
  fromNumber: string,
): Promise<readonly Trunk[]> {
  const number = await phoneNumbers.findByNumber(projectId, fromNumber);
  if (number?.outboundStatus !== 'active') return [];
  const candidates = candidateTrunks(number, await trunks.activeOf(projectId));
  return reachableFirst(candidates, await health.read(candidates.map(({ id }) => id)));
}
