import { notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { NumberClaim } from '../../../calls/numbers/numberClaim.ts';
import type { NumberClaimStore } from '../../../calls/numbers/phoneNumberStore.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { fieldsOf, insertRow } from '../sql/rows.ts';

const COLUMNS = 'id AS phone_number_id, project_id, number, verified, created_at, updated_at';

/** Changes take several statements; the caller provides the transaction. */
export function numberClaimStore(database: Queryable): NumberClaimStore {
  const update = async (id: string, verified: boolean | undefined, at: string) => {
    const [row] = await database.query<object>(
      `UPDATE phone_numbers SET verified = coalesce($2, verified), updated_at = $3 WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, verified ?? null, at],
    );
    if (!row) throw new Error('a phone number disappeared while it was locked');
    return fieldsOf<NumberClaim>(row);
  };
  const insert = async (projectId: string, number: string, verified: boolean, id: string, at: string) => {
    const times = { created_at: at, updated_at: at };
    const columns = {
      id,
      project_id: projectId,
      number,
      verified,
      outbound_status: 'active',
      inbound_enabled: false,
    };
    return fieldsOf<NumberClaim>(
      await insertRow(database, 'phone_numbers', { ...columns, ...times }, COLUMNS),
    );
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
      return mapPage(await queryPage(database, list, page), fieldsOf<NumberClaim>);
    },
    async assign(number, { projectId, verified }, id, at) {
      const [holder] = await database.query<{ id: string; project_id: string }>(
        'SELECT id, project_id FROM phone_numbers WHERE number = $1 FOR UPDATE',
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
      const [removed] = await database.query<{ project_id: string }>(
        'DELETE FROM phone_numbers WHERE number = $1 RETURNING project_id',
        [number],
      );
      return removed?.project_id;
    },
  };
}
