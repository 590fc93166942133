/**
 * Dampens the lead of the first ranks. The usual 60 is for hundreds of ranks: in short lists a single shared word would
 * outweigh any difference in meaning.
 */
const RANK_CONSTANT = 5;

/** A rank in a list, with a weight of 0 to 1. */
export interface Ranked<Item> {
  readonly item: Item;
  readonly weight: number;
}

/**
 * Weighted reciprocal rank fusion.
 *
 * @param lists - The lists, each best first.
 * @returns Each item once, as the first list has it, best first; ties keep the lists' order.
 * @see Cormack, Clarke and Büttcher, SIGIR 2009
 */
export function fuse<Item extends { readonly id: string }>(
  lists: readonly (readonly Ranked<Item>[])[],
): Item[] {
  const sums = new Map<string, { item: Item; sum: number }>();
  for (const list of lists) {
    for (const [index, { item, weight }] of list.entries()) {
      const known = sums.get(item.id) ?? { item, sum: 0 };
      sums.set(item.id, { ...known, sum: known.sum + weight / (RANK_CONSTANT + index + 1) });
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum).map(({ item }) => item);
}
