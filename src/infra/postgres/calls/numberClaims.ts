import { notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { NumberClaim } from '../../../calls/numbers/numberClaim.ts';
import type { NumberClaimStore } from '../../../calls/numbers/phoneNumberStore.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  id: string;
  project_id: string;
  number: string;
  verified: boolean;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, project_id, number, verified, created_at, updated_at';

/** Changes take several statements; the caller provides the transaction. */
export function numberClaimStore(database: Queryable): NumberClaimStore {
  const update = async (id: string, verified: boolean | undefined, at: string) => {
    const [row] = await database.query<Row>(
      `UPDATE phone_numbers SET verified = coalesce($2, verified), updated_at = $3 WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, verified ?? null, at],
    );
    if (!row) throw new Error('a phone number disappeared while it was locked');
    return fromRow(row);
  };
  const insert = async (projectId: string, number: string, verified: boolean, id: string, at: string) => {
    const [row] = await database.query<Row>(
      `INSERT INTO phone_numbers
         (id, project_id, number, outbound_status, inbound_enabled, verified, created_at, updated_at)
       VALUES ($1, $2, $3, 'active', false, $4, $5, $5) RETURNING ${COLUMNS}`,
      [id, projectId, number, verified, at],
    );
    if (!row) throw new Error('INSERT returned no row');
    return fromRow(row);
  };

  return {
    async list(page) {
      const list: List = {
        name: 'number_claims',
        columns: COLUMNS,
        from: 'phone_numbers',
        where: 'true',
        parameters: [],
        order: [{ column: 'number', type: 'text' }],
        direction: 'ASC',
      };
      return mapPage(await queryPage<Row>(database, list, page), fromRow);
    },
    async assign(number, { projectId, verified }, id, at) {
      const [holder] = await database.query<Row>(
        `SELECT ${COLUMNS} FROM phone_numbers WHERE number = $1 FOR UPDATE`,
        [number],
      );
      if (!holder) return undefined;
      const formerProjectId = holder.project_id;
      if (projectId === undefined || projectId === formerProjectId) {
        return { claim: await update(holder.id, verified, at), formerProjectId };
      }
      const known = await database.query('SELECT FROM projects WHERE id = $1 FOR KEY SHARE', [projectId]);
      if (known.length === 0) throw notFound('Project');
      await database.query('DELETE FROM phone_numbers WHERE id = $1', [holder.id]);
      return { claim: await insert(projectId, number, verified ?? true, id, at), formerProjectId };
    },
    async remove(number) {
      const [removed] = await database.query<Pick<Row, 'project_id'>>(
        'DELETE FROM phone_numbers WHERE number = $1 RETURNING project_id',
        [number],
      );
      return removed?.project_id;
    },
  };
}

function fromRow(row: Row): NumberClaim {
  return {
    number: row.number,
    projectId: row.project_id,
    phoneNumberId: row.id,
    verified: row.verified,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
