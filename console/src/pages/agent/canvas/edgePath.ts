/** From the middle of a node to beside it, for an edge that leads back up. */
const DETOUR = 190;
/** Nodes that far apart are not in the way. */
const ASIDE = 240;
const PARALLEL_GAP = 70;

export interface EdgeEnds {
  readonly sourceX: number;
  readonly sourceY: number;
  readonly targetX: number;
  readonly targetY: number;
  /** Among the edges between the same two nodes: … -1, 0, 1 … */
  readonly lane: number;
}

/** A curve from the bottom of a node to the top of another, around both where it leads up. @returns The path, and its middle. */
export function edgePath({ sourceX, sourceY, targetX, targetY, lane }: EdgeEnds): [string, number, number] {
  const leadsDown = targetY - sourceY > 20;
  const bend = leadsDown ? Math.max(40, (targetY - sourceY) / 2) : 90;
  const isFree = leadsDown || Math.abs(targetX - sourceX) > ASIDE;
  const aside = isFree ? lane * PARALLEL_GAP : DETOUR + Math.abs(lane) * PARALLEL_GAP;
  const [firstX, firstY] = [sourceX + aside, sourceY + bend];
  const [secondX, secondY] = [targetX + aside, targetY - bend];
  const middle = (start: number, first: number, second: number, end: number) =>
    (start + 3 * first + 3 * second + end) / 8;
  return [
    `M${sourceX},${sourceY} C${firstX},${firstY} ${secondX},${secondY} ${targetX},${targetY}`,
    middle(sourceX, firstX, secondX, targetX),
    middle(sourceY, firstY, secondY, targetY),
  ];
}
