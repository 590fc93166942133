/** Characters that one statement reads. The embedded database runs one statement at a time, for all projects. */
const BATCH_CHARACTERS = 1_000_000;

/** Divides sessions into batches of at most a million characters; a longer session is a batch of its own. */
export function sizeBatches<Row extends { readonly characters: number }>(
  rows: readonly Row[],
  mostRows = Number.POSITIVE_INFINITY,
): Row[][] {
  const batches: Row[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row.characters;
    const batch = batches.at(-1);
    if (batch && batch.length < mostRows && left >= 0) batch.push(row);
    else {
      batches.push([row]);
      left = BATCH_CHARACTERS - row.characters;
    }
  }
  return batches;
}
