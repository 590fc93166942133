/** Collects all items. `Array.fromAsync` needs Node 22. */
export async function arrayFromAsync<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
