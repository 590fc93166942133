/** A range of a list. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A range of a list, and the number of items in the whole list. */
export interface PageOf<Item> {
  readonly items: Item[];
  readonly total: number;
}
