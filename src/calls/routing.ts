import type { Trunk, TrunkHealth } from './trunk.ts';

type Seen = Pick<TrunkHealth, 'reachable' | 'registered'>;

/**
 * The trunks of a number in the order in which they are tried: as the number names them, those that were seen to be
 * down behind the others, since what was seen may be old. A trunk that is not active is left out.
 */
export function routeOf(
  trunkIds: readonly string[],
  trunks: readonly Trunk[],
  health: ReadonlyMap<string, Seen>,
): Trunk[] {
  const known = new Map(trunks.map((trunk) => [trunk.id, trunk]));
  const named = trunkIds.length > 0 ? trunkIds : byPriority(trunks);
  const active = named.flatMap((id) => {
    const trunk = known.get(id);
    return trunk?.status === 'active' ? [trunk] : [];
  });
  const isDown = ({ id }: Trunk) => {
    const seen = health.get(id);
    return seen?.reachable === false || seen?.registered === false;
  };
  return [...active.filter((trunk) => !isDown(trunk)), ...active.filter(isDown)];
}

function byPriority(trunks: readonly Trunk[]): string[] {
  return [...trunks].sort((one, other) => one.priority - other.priority).map(({ id }) => id);
}
