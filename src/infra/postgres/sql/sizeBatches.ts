/** Characters that one statement reads. The embedded database runs one statement at a time, for all projects. */
const BATCH_CHARACTERS = 1_000_000;

export interface BatchLimits {
  readonly rows?: number;
  readonly characters?: number;
}

/** Divides rows into batches of at most a million characters; a longer row is a batch of its own. */
export function sizeBatches<Row extends { readonly characters: number }>(
  rows: readonly Row[],
  {
    rows: mostRows = Number.POSITIVE_INFINITY,
    characters: mostCharacters = BATCH_CHARACTERS,
  }: BatchLimits = {},
): Row[][] {
  const batches: Row[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row.characters;
    const batch = batches.at(-1);
    if (batch && batch.length < mostRows && left >= 0) batch.push(row);
    else {
      batches.push([row]);
      left = mostCharacters - row.characters;
    }
  }
  return batches;
}
