import { CallwayError } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Trunk, TrunkInput } from '../../../calls/trunks/trunk.ts';
import type { TrunkStore } from '../../../calls/trunks/trunkStore.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  id: string;
  project_id: string;
  definition: Omit<TrunkInput, 'password'> & Pick<Trunk, 'hasPrivateHost'>;
  password: string | null;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, project_id, definition, password, created_at, updated_at';
const ACTIVE = `definition->>'status' = 'active'`;

export function trunkStore(database: Queryable, secrets: SecretFields): TrunkStore {
  const rows = projectRows<Row>(database, 'trunks', COLUMNS);
  const fromRow = (row: Row): Trunk => ({
    id: row.id,
    projectId: row.project_id,
    ...row.definition,
    password: row.password === null ? null : secrets.open(row.password),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  });
  const sealed = (password: string | null | undefined) => (password == null ? null : secrets.seal(password));

  return {
    async insert(projectId, id, { password, ...definition }, at) {
      const [row] = await database.query<Row>(
        `INSERT INTO trunks (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $5) RETURNING ${COLUMNS}`,
        [id, projectId, JSON.stringify(definition), sealed(password), at],
      );
      if (!row) throw new Error('INSERT returned no row');
      return fromRow(row);
    },
    async find(projectId, id) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<Row>(
        `SELECT ${COLUMNS} FROM trunks WHERE project_id = $1 AND id = $2`,
        [projectId, id],
      );
      return row && fromRow(row);
    },
    async list(projectId, page) {
      return mapPage(await rows.list(projectId, page), fromRow);
    },
    async update(projectId, id, { password, ...changed }, at) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<Row>(
        `UPDATE trunks SET definition = definition || $3::jsonb, updated_at = $4,
           password = CASE WHEN $5 THEN $6 ELSE password END
         WHERE project_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
        [projectId, id, JSON.stringify(changed), at, password !== undefined, sealed(password)],
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
      const gone = await database.query('DELETE FROM trunks WHERE project_id = $1 AND id = $2 RETURNING id', [
        projectId,
        id,
      ]);
      return gone.length > 0;
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
      const rows = await database.query<Row>(`SELECT ${COLUMNS} FROM trunks WHERE ${ACTIVE} ORDER BY id`);
      return rows.map(fromRow);
    },
    async activeOf(projectId) {
      const rows = await database.query<Row>(
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
