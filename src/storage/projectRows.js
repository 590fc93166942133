import { isUuid } from '../base/ids.js';
import { queryPage } from './rows.js';
/**
 * The rows of a table whose keys are `project_id` and a UUID `id`; what cannot be an id names no row.
 *
 * @param select - `SELECT … FROM` this table, without conditions.
 */
export function projectRows(database, table, select) {
  return {
    async find(projectId, id, lock) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query(
        `${select} WHERE project_id = $1 AND id = $2 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId, id],
      );
      return row;
    },
    list: (projectId, page) =>
      queryPage(database, `${select} WHERE project_id = $1 ORDER BY created_at, id`, [projectId], page),
    async remove(projectId, id) {
      if (!isUuid(id)) return false;
      const sql = `DELETE FROM ${table} WHERE project_id = $1 AND id = $2 RETURNING id`;
      return (await database.query(sql, [projectId, id])).length > 0;
    },
  };
}
