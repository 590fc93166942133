import type { Database, Parameter, Queryable } from '../../../../src/infra/postgres/connection/database.ts';

/** Counts the rows that statements read from tables, or from one, also in functions and those that they leave out. */
export function countRowsRead(database: Database, table?: string): Queryable & { rowsRead: number } {
  const { sharesSession = false } = database;
  const counting = {
    sharesSession,
    rowsRead: 0,
    query: <Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> =>
      database.transaction(async (transaction) => {
        const before = await readSoFar(transaction, table);
        const rows = await transaction.query<Row>(sql, parameters);
        counting.rowsRead += (await readSoFar(transaction, table)) - before;
        return rows;
      }),
  };
  return counting;
}

/** Counts of the connection that the server has not collected yet; they only grow within a transaction. */
async function readSoFar({ query }: Queryable, table: string | undefined): Promise<number> {
  const [row] = await query<{ read: number }>(
    `SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::integer AS read
     FROM pg_stat_xact_user_tables WHERE relname = coalesce($1::text, relname)`,
    [table ?? null],
  );
  return row?.read ?? 0;
}
