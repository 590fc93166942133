import type { Queryable } from '../connection/database.ts';

/** So many chunks go with one statement: all of a long document would take longer than a statement may. */
export const REMOVAL_CHUNKS = 10_000;

/** Removes a document's chunks with their vectors, a part at a time; who breaks off leaves the rest. */
export async function removeChunks(database: Queryable, datasetId: string): Promise<void> {
  const [{ last } = { last: null }] = await database.query<{ last: number | null }>(
    'SELECT max(position) AS last FROM chunks WHERE dataset_id = $1',
    [datasetId],
  );
  for (let from = 0; last !== null && from <= last; from += REMOVAL_CHUNKS) {
    await database.query('DELETE FROM chunks WHERE dataset_id = $1 AND position >= $2 AND position < $3', [
      datasetId,
      from,
      from + REMOVAL_CHUNKS,
    ]);
  }
}
