import { isUuid } from '../../../base/values/ids.ts';
import { mapPage, type Page, type PageOf } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { type OrderColumn, queryPage } from './pages.ts';
import { assignments, type Columns, fieldsOf, insertRow } from './rows.ts';

/** The order of tables with these columns. */
export const BY_CREATION = [
  { column: 'created_at', type: 'time' },
  { column: 'id', type: 'uuid' },
] as const satisfies readonly OrderColumn[];

/** Statements that all tables of a project have in common. */
export interface ProjectRows<Item> {
  insert(columns: Columns): Promise<Item>;
  find(projectId: string, id: string, lock?: 'for update'): Promise<Item | undefined>;
  /** Lists the rows by their creation. */
  list(projectId: string, page: Page): Promise<PageOf<Item>>;
  /** Returns all rows, oldest first. */
  all(projectId: string): Promise<Item[]>;
  /** Sets columns; none are set where all are undefined. @returns The row after it; undefined where there is none. */
  update(projectId: string, id: string, columns: Columns): Promise<Item | undefined>;
  remove(projectId: string, id: string): Promise<boolean>;
}

/**
 * Statements on a table with the keys `project_id` and `id` (UUID). Texts that are not UUIDs find no row.
 *
 * @param columns - The columns to select.
 * @param toItem - Default: {@link fieldsOf} the row.
 * @param direction - `DESC` lists the newest first. Default: the oldest.
 */
export function projectRows<Item, Row extends object = object>(
  database: Queryable,
  table: string,
  columns: string,
  toItem: (row: Row) => Item = fieldsOf,
  direction: 'ASC' | 'DESC' = 'ASC',
): ProjectRows<Item> {
  const select = `SELECT ${columns} FROM ${table} WHERE project_id = $1`;
  return {
    insert: async (given) => toItem(await insertRow<Row>(database, table, given, columns)),
    async find(projectId, id, lock) {
      if (!isUuid(id)) return undefined;
      const sql = `${select} AND id = $2 ${lock ? 'FOR UPDATE' : ''}`;
      const [row] = await database.query<Row>(sql, [projectId, id]);
      return row && toItem(row);
    },
    async list(projectId, page) {
      const list = {
        name: table,
        columns,
        from: table,
        where: 'project_id = $1',
        parameters: [projectId],
        order: BY_CREATION,
        direction,
      } as const;
      return mapPage(await queryPage<Row>(database, list, page), toItem);
    },
    async all(projectId) {
      const rows = await database.query<Row>(`${select} ORDER BY created_at, id`, [projectId]);
      return rows.map(toItem);
    },
    async update(projectId, id, changed) {
      if (!isUuid(id)) return undefined;
      const { set, parameters } = assignments(changed, 2);
      if (set === '') return await this.find(projectId, id, 'for update');
      const sql = `UPDATE ${table} SET ${set} WHERE project_id = $1 AND id = $2 RETURNING ${columns}`;
      const [row] = await database.query<Row>(sql, [projectId, id, ...parameters]);
      return row && toItem(row);
    },
    async remove(projectId, id) {
      if (!isUuid(id)) return false;
      const sql = `DELETE FROM ${table} WHERE project_id = $1 AND id = $2 RETURNING id`;
      return (await database.query(sql, [projectId, id])).length > 0;
    },
  };
}
