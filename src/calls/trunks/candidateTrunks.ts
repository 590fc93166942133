import type { PhoneNumber } from '../numbers/phoneNumber.ts';
import type { Trunk } from './trunk.ts';

/**
 * The trunks that a call from this number may take, in the order of trial: those that the number names; where it names
 * none, all of its project by priority.
 *
 * @param active - The active trunks of the number's project, oldest first.
 */
export function candidateTrunks(
  { trunkIds }: Pick<PhoneNumber, 'trunkIds'>,
  active: readonly Trunk[],
): readonly Trunk[] {
  if (trunkIds.length === 0) return active.toSorted((one, other) => one.priority - other.priority);
  return trunkIds.flatMap((id) => active.filter((trunk) => trunk.id === id));
}
