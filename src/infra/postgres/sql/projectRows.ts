import { isUuid } from '../../../base/ids.ts';
import type { Page, PageOf } from '../../../base/page.ts';
import type { Queryable } from '../connection/database.ts';
import { queryPage } from './rows.ts';

/** Queries that all tables of a project have in common. */
export interface ProjectRows<Row> {
  find(projectId: string, id: string, lock?: 'for update'): Promise<Row | undefined>;
  /** Oldest first. */
  list(projectId: string, page: Page): Promise<PageOf<Row>>;
  remove(projectId: string, id: string): Promise<boolean>;
}

/**
 * Queries on a table with the keys `project_id` and `id` (UUID). Texts that are not UUIDs find no row.
 *
 * @param select - `SELECT … FROM` the table, without conditions.
 */
export function projectRows<Row>(database: Queryable, table: string, select: string): ProjectRows<Row> {
  return {
    async find(projectId, id, lock) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<Row>(
        `${select} WHERE project_id = $1 AND id = $2 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId, id],
      );
      return row;
    },
    list: (projectId, page) =>
      queryPage<Row>(database, `${select} WHERE project_id = $1 ORDER BY created_at, id`, [projectId], page),
    async remove(projectId, id) {
      if (!isUuid(id)) return false;
      const sql = `DELETE FROM ${table} WHERE project_id = $1 AND id = $2 RETURNING id`;
      return (await database.query(sql, [projectId, id])).length > 0;
    },
  };
}
