import { CallwayError, invalid } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import type { PhoneNumber, PhoneNumberPatch } from '../../../calls/numbers/phoneNumber.ts';
import type { HeldNumber, PhoneNumberStore } from '../../../calls/numbers/phoneNumberStore.ts';
import type { Queryable } from '../connection/database.ts';
import { violates } from '../connection/errors.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

const COLUMNS = `
  id, number, outbound_status, inbound_enabled, record, noise_suppression, media, start_node_id, variables, verified,
    created_at, updated_at,
    (SELECT coalesce(array_agg(trunk_id::text ORDER BY position), '{}') FROM phone_number_trunks
     WHERE phone_number_id = phone_numbers.id) AS trunk_ids`;

/** Changes take several statements; the caller provides the transaction. */
export function phoneNumberStore(database: Queryable): PhoneNumberStore {
  const rows = projectRows<PhoneNumber>(database, 'phone_numbers', COLUMNS);
  return {
    find: rows.find,
    list: rows.list,
    remove: rows.remove,
    async insert(projectId, id, input, at) {
      await requireTrunks(database, projectId, input.trunkIds);
      const keys = { id, project_id: projectId, created_at: at, updated_at: at };
      await orNumberTaken(rows.insert({ ...keys, ...columnsOf(input) }), input.number);
      await linkTrunks(database, projectId, id, input.trunkIds);
      const inserted = await rows.find(projectId, id);
      if (!inserted) throw new Error('a phone number disappeared after its insert');
      return inserted;
    },
    async findByNumber(projectId, number) {
      const sql = `SELECT ${COLUMNS} FROM phone_numbers WHERE project_id = $1 AND number = $2`;
      const [row] = await database.query<object>(sql, [projectId, number]);
      return row && fieldsOf<PhoneNumber>(row);
    },
    async findHolder(number) {
      const sql = `SELECT ${COLUMNS}, project_id FROM phone_numbers WHERE number = $1`;
      const [row] = await database.query<object>(sql, [number]);
      return row && fieldsOf<HeldNumber>(row);
    },
    async ownNumbers(projectId) {
      const numbers = await database.query<{ number: string }>(
        `SELECT number FROM phone_numbers WHERE project_id = $1
         AND (verified OR NOT EXISTS (SELECT FROM phone_numbers WHERE project_id = $1 AND verified))`,
        [projectId],
      );
      return numbers.map(({ number }) => number);
    },
    async update(projectId, id, patch, at) {
      if (!isUuid(id)) return undefined;
      if (patch.trunkIds) await requireTrunks(database, projectId, patch.trunkIds);
      const update = rows.update(projectId, id, { ...columnsOf(patch), updated_at: at });
      const updated = await orNumberTaken(update, patch.number ?? '');
      if (!updated) return undefined;
      if (patch.trunkIds) {
        await database.query('DELETE FROM phone_number_trunks WHERE phone_number_id = $1', [id]);
        await linkTrunks(database, projectId, id, patch.trunkIds);
      }
      return await rows.find(projectId, id);
    },
  };
}

/** Locks the trunks against removal. @throws {CallwayError} `unknown_trunk` */
async function requireTrunks(
  database: Queryable,
  projectId: string,
  trunkIds: readonly string[],
): Promise<void> {
  const twice = trunkIds.findIndex((id, index) => trunkIds.indexOf(id) !== index);
  if (twice >= 0) throw unknownTrunk(twice, `trunkIds contains ${trunkIds[twice]} twice`);
  const known = await database.query<{ id: string }>(
    'SELECT id FROM trunks WHERE project_id = $1 AND id = ANY ($2::uuid[]) FOR KEY SHARE',
    [projectId, trunkIds],
  );
  const missing = trunkIds.findIndex((trunkId) => !known.some(({ id }) => id === trunkId.toLowerCase()));
  if (missing >= 0) throw unknownTrunk(missing, `Trunk ${trunkIds[missing]} does not exist`);
}

async function linkTrunks(
  database: Queryable,
  projectId: string,
  id: string,
  trunkIds: readonly string[],
): Promise<void> {
  await database.query(
    `INSERT INTO phone_number_trunks (project_id, phone_number_id, trunk_id, position)
     SELECT $1, $2, trunk_id, position FROM unnest($3::uuid[]) WITH ORDINALITY AS linked (trunk_id, position)`,
    [projectId, id, trunkIds],
  );
}

async function orNumberTaken<Result>(write: Promise<Result>, number: string): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (violates(error, 'phone_numbers_number_in_project')) {
      throw invalid('phone_number_exists', `The project already has the number ${number}`);
    }
    if (!violates(error, 'phone_numbers_one_holder')) throw error;
    const message = `The number ${number} belongs to another project; ask the operator of this installation`;
    throw new CallwayError('conflict', 'number_taken', message);
  }
}

function unknownTrunk(index: number, message: string) {
  return invalid('unknown_trunk', message, [{ path: `/trunkIds/${index}`, message }]);
}

function columnsOf(input: PhoneNumberPatch & { readonly verified?: boolean }) {
  const { media, variables } = input;
  return {
    number: input.number,
    outbound_status: input.outboundStatus,
    inbound_enabled: input.inboundEnabled,
    record: input.record,
    noise_suppression: input.noiseSuppression,
    media: media && JSON.stringify(media),
    start_node_id: input.startNodeId,
    variables: variables && storableJson(variables),
    verified: input.verified,
  };
}
