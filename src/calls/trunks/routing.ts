import type { Trunk, TrunkHealth } from './trunk.ts';

type Seen = Pick<TrunkHealth, 'reachable' | 'registered'>;

/**
 * Trunks in the order in which they are tried: as given, but those that were seen to be down behind the others, since
 * what was seen may be old.
 */
export function reachableFirst(
  trunks: readonly Trunk[],
  health: ReadonlyMap<string, Seen>,
): readonly Trunk[] {
  const isDown = ({ id }: Trunk) => {
    const seen = health.get(id);
    return seen?.reachable === false || seen?.registered === false;
  };
  return [...trunks.filter((trunk) => !isDown(trunk)), ...trunks.filter(isDown)];
}
