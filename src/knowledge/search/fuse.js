/**
 * Damps the lead of the first places. The method's usual 60 is for hundreds of places: with lists as short as ours, a
 * single shared word would outweigh any distance in meaning.
 */
const RANK_CONSTANT = 5;
/**
 * Reciprocal rank fusion with weights: what stands high in several lists comes first.
 *
 * @param lists - Each the best first.
 * @returns Each item once, as it stands in the first list that has it; ties keep the lists' order.
 * @see Cormack, Clarke and Büttcher, SIGIR 2009
 */
export function fuse(lists) {
  const sums = new Map();
  for (const list of lists) {
    for (const [index, { item, weight }] of list.entries()) {
      const known = sums.get(item.id) ?? { item, sum: 0 };
      sums.set(item.id, { ...known, sum: known.sum + weight / (RANK_CONSTANT + index + 1) });
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum).map(({ item }) => item);
}
