import type { PhoneNumber } from '../numbers/phoneNumber.ts';
import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import type { Trunk, TrunkHealth } from './trunk.ts';
import type { TrunkHealthStore } from './trunkHealth.ts';
import type { TrunkStore } from './trunkStore.ts';

export interface TrunkSelectionDeps {
  readonly phoneNumbers: Pick<PhoneNumberStore, 'findByNumber'>;
  readonly trunks: Pick<TrunkStore, 'activeOf'>;
  readonly health: Pick<TrunkHealthStore, 'read'>;
}

/**
 * The trunks for a call from this number, in the order of trial: healthy ones first.
 *
 * @returns None when the number is not the project's, or its outbound status is inactive.
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

/**
 * The trunks that a number lists, in that order; all of its project's by priority when it lists none.
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

/** Whether calls to a number may come over one of its project's trunks: any, when it lists none. */
export function isReachedOver({ trunkIds }: Pick<PhoneNumber, 'trunkIds'>, trunkId: string): boolean {
  return trunkIds.length === 0 || trunkIds.includes(trunkId);
}

/** Trunks that were down when last checked come last instead of being dropped: the check may be out of date. */
export function reachableFirst(
  trunks: readonly Trunk[],
  health: ReadonlyMap<string, Pick<TrunkHealth, 'reachable' | 'registered'>>,
): readonly Trunk[] {
  const isDown = ({ id }: Trunk) => {
    const seen = health.get(id);
    return seen?.reachable === false || seen?.registered === false;
  };
  return [...trunks.filter((trunk) => !isDown(trunk)), ...trunks.filter(isDown)];
}
