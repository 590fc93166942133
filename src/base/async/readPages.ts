/**
 * Reads a list page by page, so that an item that stays on the list holds up none behind it.
 *
 * @param read - Returns the items behind `after` in a fixed order, at most `limit` of them; without `after` the first ones.
 */
export async function* readPages<Item>(
  limit: number,
  read: (limit: number, after: Item | undefined) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  let after: Item | undefined;
  do {
    const page = await read(limit, after);
    yield page;
    after = page[limit - 1];
  } while (after !== undefined);
}
