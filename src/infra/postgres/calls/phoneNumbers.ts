import { CallwayError, invalid } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { PhoneNumber, PhoneNumberInput } from '../../../calls/numbers/phoneNumber.ts';
import type { HeldNumber, PhoneNumberStore } from '../../../calls/numbers/phoneNumberStore.ts';
import type { Queryable } from '../connection/database.ts';
import { violates } from '../connection/errors.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

interface Row {
  id: string;
  project_id: string;
  number: string;
  outbound_status: PhoneNumber['outboundStatus'];
  inbound_enabled: boolean;
  record: boolean | null;
  noise_suppression: boolean | null;
  media: PhoneNumber['media'];
  start_node_id: string | null;
  variables: PhoneNumber['variables'];
  verified: boolean;
  created_at: Date;
  updated_at: Date;
  trunk_ids: string[];
}

const COLUMNS = `
  id, project_id, number, outbound_status, inbound_enabled, record, noise_suppression, media, start_node_id, variables, verified,
    created_at, updated_at,
    (SELECT coalesce(array_agg(trunk_id::text ORDER BY position), '{}') FROM phone_number_trunks
     WHERE phone_number_id = phone_numbers.id) AS trunk_ids`;
const SELECT = `SELECT ${COLUMNS} FROM phone_numbers`;

/** Changes take several statements; the caller provides the transaction. */
export function phoneNumberStore(database: Queryable): PhoneNumberStore {
  const rows = projectRows<Row>(database, 'phone_numbers', COLUMNS);
  const find = async (projectId: string, id: string): Promise<PhoneNumber | undefined> => {
    const row = await rows.find(projectId, id);
    return row && fromRow(row);
  };

  return {
    async insert(projectId, id, input, at) {
      await requireTrunks(database, projectId, input.trunkIds);
      const insert = database.query(
        `INSERT INTO phone_numbers
           (id, project_id, number, outbound_status, inbound_enabled, media, verified, created_at, updated_at,
            start_node_id, variables, record, noise_suppression)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12)`,
        [
          id,
          projectId,
          input.number,
          input.outboundStatus,
          input.inboundEnabled,
          jsonOrNull(input.media),
          input.verified,
          at,
          input.startNodeId,
          storableJson(input.variables),
          input.record,
          input.noiseSuppression,
        ],
      );
      await orNumberTaken(insert, input.number);
      await linkTrunks(database, projectId, id, input.trunkIds);
      const inserted = await find(projectId, id);
      if (!inserted) throw new Error('a phone number disappeared after its insert');
      return inserted;
    },
    find,
    async findByNumber(projectId, number) {
      const [row] = await database.query<Row>(`${SELECT} WHERE project_id = $1 AND number = $2`, [
        projectId,
        number,
      ]);
      return row && fromRow(row);
    },
    async findHolder(number): Promise<HeldNumber | undefined> {
      const [row] = await database.query<Row>(`${SELECT} WHERE number = $1`, [number]);
      return row && { ...fromRow(row), projectId: row.project_id };
    },
    async ownNumbers(projectId) {
      const numbers = await database.query<{ number: string }>(
        `SELECT number FROM phone_numbers WHERE project_id = $1
         AND (verified OR NOT EXISTS (SELECT FROM phone_numbers WHERE project_id = $1 AND verified))`,
        [projectId],
      );
      return numbers.map(({ number }) => number);
    },
    list: async (projectId, page) => mapPage(await rows.list(projectId, page), fromRow),
    async update(projectId, id, patch, at) {
      if (!isUuid(id)) return undefined;
      if (patch.trunkIds) await requireTrunks(database, projectId, patch.trunkIds);
      const update = database.query<{ id: string }>(
        `UPDATE phone_numbers SET
           number = coalesce($3, number),
           outbound_status = coalesce($4, outbound_status),
           inbound_enabled = coalesce($5, inbound_enabled),
           media = CASE WHEN $6 THEN $7::jsonb ELSE media END,
           verified = coalesce($9, verified),
           start_node_id = CASE WHEN $10 THEN $11 ELSE start_node_id END,
           variables = coalesce($12::jsonb, variables),
           record = CASE WHEN $13 THEN $14 ELSE record END,
           noise_suppression = CASE WHEN $15 THEN $16 ELSE noise_suppression END,
           updated_at = $8
         WHERE project_id = $1 AND id = $2 RETURNING id`,
        [
          projectId,
          id,
          patch.number ?? null,
          patch.outboundStatus ?? null,
          patch.inboundEnabled ?? null,
          patch.media !== undefined,
          jsonOrNull(patch.media ?? null),
          at,
          patch.verified ?? null,
          patch.startNodeId !== undefined,
          patch.startNodeId ?? null,
          patch.variables ? storableJson(patch.variables) : null,
          patch.record !== undefined,
          patch.record ?? null,
          patch.noiseSuppression !== undefined,
          patch.noiseSuppression ?? null,
        ],
      );
      const [updated] = await orNumberTaken(update, patch.number ?? '');
      if (!updated) return undefined;
      if (patch.trunkIds) {
        await database.query('DELETE FROM phone_number_trunks WHERE phone_number_id = $1', [id]);
        await linkTrunks(database, projectId, id, patch.trunkIds);
      }
      return await find(projectId, id);
    },
    remove: rows.remove,
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

function jsonOrNull(value: PhoneNumberInput['media']): string | null {
  return value === null ? null : JSON.stringify(value);
}

function fromRow(row: Row): PhoneNumber {
  return {
    id: row.id,
    number: row.number,
    trunkIds: row.trunk_ids,
    outboundStatus: row.outbound_status,
    inboundEnabled: row.inbound_enabled,
    record: row.record,
    noiseSuppression: row.noise_suppression,
    media: row.media,
    startNodeId: row.start_node_id,
    variables: row.variables,
    verified: row.verified,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
