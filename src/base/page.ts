/** Which part of a list is wanted. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A part of a list, with the count of all. */
export interface PageOf<Item> {
  readonly items: Item[];
  readonly total: number;
}
