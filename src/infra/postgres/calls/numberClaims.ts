import { notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/page.ts';
import type { NumberClaim } from '../../../calls/numbers/numberClaim.ts';
import type { NumberClaimStore } from '../../../calls/numbers/phoneNumberStore.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { BY_CREATION } from '../sql/projectRows.ts';
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
  /** The holder first. */
  const claimsOf = (number: string) =>
    database.query<Row>(
      `SELECT ${COLUMNS} FROM phone_numbers WHERE number = $1 ORDER BY is_duplicate, created_at, id FOR UPDATE`,
      [number],
    );
  const hold = async (id: string, verified: boolean | undefined, at: string) => {
    const [row] = await database.query<Row>(
      `UPDATE phone_numbers SET verified = coalesce($2, verified), is_duplicate = false, updated_at = $3
       WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, verified ?? null, at],
    );
    if (!row) throw new Error('a phone number disappeared while it was locked');
    return fromRow(row);
  };
  const insert = (projectId: string, number: string, id: string, at: string) =>
    database.query(
      `INSERT INTO phone_numbers
         (id, project_id, number, outbound_status, inbound_enabled, verified, created_at, updated_at)
       VALUES ($1, $2, $3, 'active', false, true, $4, $4)`,
      [id, projectId, number, at],
    );

  return {
    async list(page) {
      const list: List = {
        name: 'number_claims',
        columns: COLUMNS,
        from: 'phone_numbers',
        where: 'true',
        parameters: [],
        order: [
          { column: 'number', type: 'text' },
          { column: 'is_duplicate', type: 'boolean' },
          ...BY_CREATION,
        ],
        direction: 'ASC',
      };
      return mapPage(await queryPage<Row>(database, list, page), fromRow);
    },
    async assign(number, { projectId, verified }, id, at) {
      const claims = await claimsOf(number);
      const [holder] = claims;
      if (!holder) return undefined;
      const formerProjectId = holder.project_id;
      if (projectId === undefined || projectId === formerProjectId) {
        return { claim: await hold(holder.id, verified, at), formerProjectId };
      }
      const known = await database.query('SELECT FROM projects WHERE id = $1 FOR KEY SHARE', [projectId]);
      if (known.length === 0) throw notFound('Project');
      await database.query('DELETE FROM phone_numbers WHERE id = $1', [holder.id]);
      const own = claims.find((claim) => claim.project_id === projectId);
      if (!own) await insert(projectId, number, id, at);
      return { claim: await hold(own?.id ?? id, verified ?? true, at), formerProjectId };
    },
    async remove(number) {
      const gone = await database.query<Pick<Row, 'project_id'>>(
        'DELETE FROM phone_numbers WHERE number = $1 RETURNING project_id',
        [number],
      );
      return gone.map(({ project_id }) => project_id);
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
