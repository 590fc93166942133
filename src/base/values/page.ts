/** A range of a list: after a cursor, or from an offset. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** `nextCursor` of the page before. @see readCursor */
  readonly cursor?: string | undefined;
}

/** A range of a list, and the number of items in the whole list. */
export interface PageOf<Item> {
  readonly items: Item[];
  /** The number of items in the whole list; with a cursor, when the first page was read. */
  readonly total: number;
  /** The cursor of the next page; null at the end. */
  readonly nextCursor: string | null;
}

export function mapPage<From, To>(page: PageOf<From>, map: (item: From) => To): PageOf<To> {
  return { ...page, items: page.items.map(map) };
}
