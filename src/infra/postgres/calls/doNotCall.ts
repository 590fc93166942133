import type { CallingHours } from '../../../agents/accounts/callingHours.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { DoNotCallEntry, DoNotCallStore, ListOwner } from '../../../calls/numbers/doNotCall.ts';
import type { Queryable } from '../connection/database.ts';
import type { NumberDigests } from '../secrets/numberDigests.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { BY_CREATION } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';

interface Stored {
  readonly number: string;
  readonly source: DoNotCallEntry['source'];
  readonly at: string;
  readonly reason: string | null;
  readonly callId: string | null;
}

const COLUMNS = 'number, source, reason, call_id, created_at AS at';

/** $2 are the number and its digest. */
const NAMED = 'project_id IS NOT DISTINCT FROM $1 AND number = ANY ($2::text[])';

/** $1 is the owner, $2 and $3 are the numbers and their digests. */
const ADD = `
  INSERT INTO do_not_call (project_id, number, source, reason, call_id, created_at)
  SELECT $1::uuid, number, $4, $5, $6::uuid, $7 FROM unnest($2::text[], $3::text[]) AS given (number, digest)
  WHERE NOT EXISTS (
    SELECT FROM do_not_call AS erased WHERE erased.number = digest AND erased.project_id IS NOT DISTINCT FROM $1
  ) ON CONFLICT DO NOTHING RETURNING 1`;

/** $1 is the project, $2 and $3 are the numbers and their digests. */
const LISTED = `
  SELECT given.number FROM unnest($2::text[], $3::text[]) AS given (number, digest)
  WHERE EXISTS (
    SELECT FROM do_not_call AS listed
    WHERE listed.number IN (given.number, digest) AND (listed.project_id = $1 OR listed.project_id IS NULL)
  )`;

const RULES = `
  SELECT calling_hours, EXISTS (
    SELECT FROM do_not_call AS listed
    WHERE listed.number = ANY ($2::text[]) AND coalesce(listed.project_id, projects.id) = projects.id
  ) AS is_listed
  FROM projects WHERE id = $1`;

/** @param digests - Names the numbers of erased customers. */
export function doNotCallStore(database: Queryable, digests: NumberDigests): DoNotCallStore {
  const named = async (owner: ListOwner, number: string) => {
    const digest = await digests.open(database);
    return [number, digest(owner, number)];
  };
  return {
    async add(owner, numbers, { source, reason, callId, at }) {
      const digest = await digests.open(database);
      const digested = numbers.map((number) => digest(owner, number));
      const given = [owner, numbers, digested, source, reason ?? null, callId ?? null, at];
      return (await database.query(ADD, given)).length;
    },
    async find(owner, number) {
      const sql = `SELECT ${COLUMNS} FROM do_not_call WHERE ${NAMED}`;
      const [row] = await database.query<object>(sql, [owner, await named(owner, number)]);
      return row && { ...fromRow(row), number };
    },
    async list(owner, page) {
      const list: List = {
        name: 'do_not_call',
        columns: COLUMNS,
        from: 'do_not_call',
        where: owner === null ? 'project_id IS NULL' : 'project_id = $1',
        parameters: owner === null ? [] : [owner],
        order: BY_CREATION,
        direction: 'DESC',
      };
      return mapPage(await queryPage<object>(database, list, page), fromRow);
    },
    async remove(owner, number) {
      const sql = `DELETE FROM do_not_call WHERE ${NAMED} RETURNING 1`;
      return (await database.query(sql, [owner, await named(owner, number)])).length > 0;
    },
    async listedAmong(projectId, numbers) {
      const digest = await digests.open(database);
      const digested = numbers.map((number) => digest(projectId, number));
      const rows = await database.query<{ number: string }>(LISTED, [projectId, numbers, digested]);
      return new Set(rows.map(({ number }) => number));
    },
    async rulesFor(projectId, number) {
      const [row] = await database.query<{ calling_hours: CallingHours | null; is_listed: boolean }>(RULES, [
        projectId,
        await named(projectId, number),
      ]);
      return { isListed: row?.is_listed ?? false, callingHours: row?.calling_hours ?? null };
    },
  };
}

/** Keeps the numbers of an erased customer listed, and names them no more. */
export async function forgetListedNumbers(
  transaction: Queryable,
  digests: NumberDigests,
  projectId: string,
  numbers: readonly string[],
): Promise<void> {
  const digest = await digests.open(transaction);
  for (const number of numbers) {
    await transaction.query(
      `UPDATE do_not_call SET number = $3, reason = NULL, call_id = NULL WHERE project_id = $1 AND number = $2`,
      [projectId, number, digest(projectId, number)],
    );
  }
}

function fromRow(row: object): DoNotCallEntry {
  const { number, reason, callId, ...entry } = fieldsOf<Stored>(row);
  return {
    ...entry,
    number: number.startsWith('+') ? number : null,
    reason: reason ?? undefined,
    callId: callId ?? undefined,
  };
}
