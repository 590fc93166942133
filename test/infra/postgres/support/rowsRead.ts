import type { Database, Parameter, Queryable } from '../../../../src/infra/postgres/connection/database.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Counts the rows that statements read from tables, or from one, those they leave out included. */
export function countRowsRead(database: Database, table?: string): Queryable & { rowsRead: number } {
  const { sharesSession = false } = database;
  const counting = {
    sharesSession,
    rowsRead: 0,
    async query<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
      counting.rowsRead += await rowsReadBy(database, table, sql, parameters);
      return await database.query<Row>(sql, parameters);
    },
  };
  return counting;
}

/** Runs the statement without its effects. */
async function rowsReadBy(
  database: Database,
  table: string | undefined,
  sql: string,
  parameters: readonly Parameter[],
): Promise<number> {
  let read = 0;
  const undo = new Error('undo');
  const explaining = database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
      parameters,
    );
    read = row ? sumOf(row['QUERY PLAN'][0].Plan, table) : 0;
    throw undo;
  });
  await explaining.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return read;
}

function sumOf(node: PlanNode, table: string | undefined): number {
  const relation = node['Relation Name'];
  const isTable =
    node['Node Type'].endsWith('Scan') && relation !== undefined && relation === (table ?? relation);
  const rows =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  const own = isTable ? rows * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + sumOf(child, table), own);
}
