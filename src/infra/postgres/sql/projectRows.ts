import { isUuid } from '../../../base/values/ids.ts';
import type { Page, PageOf } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { type OrderColumn, queryPage } from './pages.ts';

/** The order of tables with these columns. */
export const BY_CREATION = [
  { column: 'created_at', type: 'time' },
  { column: 'id', type: 'uuid' },
] as const satisfies readonly OrderColumn[];

/** Queries that all tables of a project have in common. */
export interface ProjectRows<Row> {
  find(projectId: string, id: string, lock?: 'for update'): Promise<Row | undefined>;
  /** Lists the rows, oldest first. */
  list(projectId: string, page: Page): Promise<PageOf<Row>>;
  remove(projectId: string, id: string): Promise<boolean>;
}

/**
 * Queries on a table with the keys `project_id` and `id` (UUID). Texts that are not UUIDs find no row.
 *
 * @param columns - The columns to select.
 */
export function projectRows<Row extends object>(
  database: Queryable,
  table: string,
  columns: string,
): ProjectRows<Row> {
  return {
    async find(projectId, id, lock) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<Row>(
        `SELECT ${columns} FROM ${table} WHERE project_id = $1 AND id = $2 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId, id],
      );
      return row;
    },
    list: (projectId, page) =>
      queryPage<Row>(
        database,
        {
          name: table,
          columns,
          from: table,
          where: 'project_id = $1',
          parameters: [projectId],
          order: BY_CREATION,
          direction: 'ASC',
        },
        page,
      ),
    async remove(projectId, id) {
      if (!isUuid(id)) return false;
      const sql = `DELETE FROM ${table} WHERE project_id = $1 AND id = $2 RETURNING id`;
      return (await database.query(sql, [projectId, id])).length > 0;
    },
  };
}
