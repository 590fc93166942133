/** Damps the lead of the first places. @see Cormack, Clarke and Büttcher, SIGIR 2009 */
const RANK_CONSTANT = 60;

/**
 * Reciprocal rank fusion: what stands high in several lists comes first.
 *
 * @param lists - Each the best first.
 * @returns Each item once, as it stands in the first list that has it; ties keep the lists' order.
 */
export function fuse<Item extends { readonly id: string }>(lists: readonly (readonly Item[])[]): Item[] {
  const sums = new Map<string, { item: Item; sum: number }>();
  for (const list of lists) {
    for (const [index, item] of list.entries()) {
      const known = sums.get(item.id) ?? { item, sum: 0 };
      sums.set(item.id, { ...known, sum: known.sum + 1 / (RANK_CONSTANT + index + 1) });
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum).map(({ item }) => item);
}
