import { CallwayError } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import type { Trunk, TrunkInput } from '../../../calls/trunks/trunk.ts';
import type { TrunkStore } from '../../../calls/trunks/trunkStore.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';

/** A trunk as its columns have it. */
type Stored = Pick<Trunk, 'id' | 'projectId' | 'password' | 'createdAt' | 'updatedAt'> & {
  definition: Omit<TrunkInput, 'password'> & Trunk;
};

const COLUMNS = 'id, project_id, definition, password, created_at, updated_at';
const ACTIVE = `definition->>'status' = 'active'`;

export function trunkStore(database: Queryable, secrets: SecretFields): TrunkStore {
  const fromRow = (row: object): Trunk => {
    const { definition, password, ...rest } = fieldsOf<Stored>(row);
    return { ...rest, ...definition, password: password === null ? null : secrets.open(password) };
  };
  const rows = projectRows(database, 'trunks', COLUMNS, fromRow);
  const sealed = (password: string | null) => (password === null ? null : secrets.seal(password));

  return {
    insert: (projectId, id, { password, ...definition }, at) =>
      rows.insert({
        id,
        project_id: projectId,
        definition: JSON.stringify(definition),
        password: sealed(password ?? null),
        created_at: at,
        updated_at: at,
      }),
    find: rows.find,
    list: rows.list,
    async update(projectId, id, { password, ...changed }, at) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<object>(
        `UPDATE trunks SET definition = definition || $3::jsonb, updated_at = $4,
           password = CASE WHEN $5 THEN $6 ELSE password END
         WHERE project_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
        [projectId, id, JSON.stringify(changed), at, password !== undefined, sealed(password ?? null)],
      );
      return row && fromRow(row);
    },
    async remove(projectId, id) {
      if (!isUuid(id)) return false;
      // Phone numbers that reference the trunk lock its row; they are visible once this lock is granted.
      await database.query('SELECT id FROM trunks WHERE project_id = $1 AND id = $2 FOR UPDATE', [
        projectId,
        id,
      ]);
      const users = await database.query<{ number: string }>(
        `SELECT number FROM phone_numbers JOIN phone_number_trunks ON phone_number_id = id
         WHERE trunk_id = $1 ORDER BY number`,
        [id],
      );
      if (users.length > 0) throw inUse(users.map(({ number }) => number));
      return await rows.remove(projectId, id);
    },
    async foreignNetworks(projectId) {
      const rows = await database.query<{ network: string }>(
        `SELECT DISTINCT jsonb_array_elements_text(definition->'inboundCidrs') AS network FROM trunks
         WHERE project_id <> $1`,
        [projectId],
      );
      return rows.map(({ network }) => network);
    },
    async active() {
      const rows = await database.query<object>(`SELECT ${COLUMNS} FROM trunks WHERE ${ACTIVE} ORDER BY id`);
      return rows.map(fromRow);
    },
    async activeOf(projectId) {
      const rows = await database.query<object>(
        `SELECT ${COLUMNS} FROM trunks WHERE project_id = $1 AND ${ACTIVE} ORDER BY created_at, id`,
        [projectId],
      );
      return rows.map(fromRow);
    },
  };
}

function inUse(numbers: readonly string[]): CallwayError {
  return new CallwayError(
    'conflict',
    'trunk_in_use',
    `The trunk is used by ${numbers.join(', ')}; remove it from their trunkIds first`,
  );
}
