import { formatNumber } from '../../formats.ts';
import { COLON, SEMICOLON } from '../../texts.ts';

/** Counts items by a name, in the order in which the names come. */
export function countBy<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return counts;
}

/** `Invalid number: 12; No number: 3`. */
export function countsText(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => name + COLON + formatNumber(count)).join(SEMICOLON);
}
