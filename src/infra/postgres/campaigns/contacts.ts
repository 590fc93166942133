import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { ContactFilter, ContactStore } from '../../../campaigns/campaignStore.ts';
import { CONTACT_OUTCOMES, CONTACT_STATUSES, type Contact } from '../../../campaigns/contact.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { Given } from '../sql/given.ts';
import { queryPage } from '../sql/pages.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson, storableText } from '../sql/storable.ts';

export const CONTACT_COLUMNS = `id, campaign_id, project_id, to_number, external_id, variables, timezone, zones, priority, status,
  skip_reason, attempts, outcome, call_id, not_before`;

export function contactStore(database: Queryable): ContactStore {
  return {
    async add(campaignId, contacts, at) {
      const rows = await database.query<{ to_number: string }>(ADD, [
        campaignId,
        at,
        contacts.map(({ id }) => id),
        contacts.map(({ toNumber }) => toNumber),
        contacts.map(({ externalId }) => externalId && storableText(externalId)),
        contacts.map(({ variables }) => storableJson(variables)),
        contacts.map(({ timezone }) => timezone),
        contacts.map(({ zones }) => zones.join()),
        contacts.map(({ priority }) => priority),
        contacts.map(({ notBefore }) => notBefore),
      ]);
      return new Set(rows.map(({ to_number }) => to_number));
    },
    async find(campaignId, id, lock) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<object>(
        `SELECT ${CONTACT_COLUMNS} FROM campaign_contacts WHERE campaign_id = $1 AND id = $2
         ${lock ? 'FOR UPDATE' : ''}`,
        [campaignId, id],
      );
      return row && toContact(row);
    },
    async list(campaignId, filter, page) {
      const { where, parameters } = conditions(campaignId, filter);
      const found = await queryPage<object>(
        database,
        {
          name: 'campaign_contacts',
          columns: CONTACT_COLUMNS,
          from: 'campaign_contacts',
          where,
          parameters,
          order: [{ column: 'id', type: 'uuid' }],
          direction: 'ASC',
        },
        page,
      );
      return mapPage(found, toContact);
    },
    async variableNames(campaignId, limit) {
      const rows = await database.query<{ name: string }>(
        `SELECT DISTINCT json_object_keys(variables) AS name FROM campaign_contacts WHERE campaign_id = $1
         ORDER BY name LIMIT $2`,
        [campaignId, limit],
      );
      return rows.map(({ name }) => name);
    },
    async announce(contactId, callId) {
      const [row] = await database.query<object>(
        `UPDATE campaign_contacts SET is_announced = true
         WHERE id = $1 AND status = 'done' AND NOT is_announced AND attempts->-1->>'callId' = $2
         RETURNING ${CONTACT_COLUMNS}`,
        [contactId, callId],
      );
      return row && toContact(row);
    },
    async dataNames(campaignId, limit) {
      const rows = await database.query<{ name: string }>(
        `SELECT DISTINCT json_object_keys(analysis->'data') AS name FROM calls JOIN session_history USING (instance_id)
         WHERE campaign_id = $1 AND json_typeof(analysis->'data') = 'object' ORDER BY name LIMIT $2`,
        [campaignId, limit],
      );
      return rows.map(({ name }) => name);
    },
    async update(contact, before) {
      const { id, campaignId, status, skipReason, attempts, outcome, callId, notBefore } = contact;
      await database.query(
        `UPDATE campaign_contacts
         SET status = $2, skip_reason = $3, attempts = $4, outcome = $5, call_id = $6, not_before = $7 WHERE id = $1`,
        [id, status, skipReason, JSON.stringify(attempts), outcome, callId, notBefore],
      );
      const counts = [...moved(before.status, status), ...moved(before.outcome, outcome)];
      if (counts.length === 0) return;
      await database.query(`UPDATE campaigns SET ${counts.join(', ')} WHERE id = $1`, [campaignId]);
    },
  };
}

/** Returns the changes of the columns that count contacts by status or outcome. */
function moved(before: string | null, after: string | null): string[] {
  if (before === after) return [];
  return [...(before ? [`${before} = ${before} - 1`] : []), ...(after ? [`${after} = ${after} + 1`] : [])];
}

/** Removes the contacts of a person, by number or `customerId`, in a transaction. */
export async function removeContacts(transaction: Queryable, projectId: string, key: string): Promise<void> {
  const found = `SELECT id FROM campaign_contacts WHERE project_id = $1 AND to_number = $2
    UNION SELECT id FROM campaign_contacts WHERE project_id = $1 AND customer_id_of(variables) = $2`;
  // First, as all that change contacts.
  await transaction.query(
    `SELECT FROM campaigns WHERE id IN (SELECT campaign_id FROM campaign_contacts WHERE id IN (${found}))
     ORDER BY id FOR UPDATE`,
    [projectId, key],
  );
  const counts = [...CONTACT_STATUSES, ...CONTACT_OUTCOMES].map(
    (name) =>
      `${name} = ${name} - (SELECT count(*) FROM removed WHERE campaign_id = campaigns.id AND '${name}' IN (status, outcome))`,
  );
  await transaction.query(
    `WITH removed AS (DELETE FROM campaign_contacts WHERE id IN (${found}) RETURNING campaign_id, status, outcome)
     UPDATE campaigns SET ${counts.join(', ')} WHERE id IN (SELECT campaign_id FROM removed)`,
    [projectId, key],
  );
}

/** Inserts contacts in the order of the list, which is also the order of their ids. */
const ADD = `
  WITH added AS (
    INSERT INTO campaign_contacts (id, campaign_id, project_id, to_number, external_id, variables, timezone, zones,
      priority, not_before, status)
    SELECT given.id, campaigns.id, project_id, to_number, external_id, variables::json, timezone, zones, priority,
      CASE WHEN not_before > $2 THEN not_before END, 'pending'
    FROM campaigns, unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[],
      $10::timestamptz[]) AS given (id, to_number, external_id, variables, timezone, zones, priority, not_before)
    WHERE campaigns.id = $1
    ON CONFLICT (campaign_id, to_number) DO NOTHING RETURNING to_number
  ), counted AS (
    UPDATE campaigns SET pending = pending + (SELECT count(*) FROM added),
      next_at = CASE WHEN status = 'running' THEN least(next_at, $2::timestamptz) END
    WHERE id = $1
  )
  SELECT to_number FROM added`;

/** Reads a row. Its zones are stored as one text, by which contacts with the same open hours are found. */
export function toContact(row: object): Contact {
  const { zones, ...contact } = fieldsOf<Omit<Contact, 'zones'> & { readonly zones: string }>(row);
  return { ...contact, zones: zonesIn(zones) };
}

export function zonesIn(text: string): string[] {
  return text.split(',');
}

/** Selects the contacts of the campaign $1 whose last attempt's call has this disposition. */
const lastCallWith = (disposition: string): string => `
  SELECT contact_id FROM calls JOIN session_history USING (instance_id)
  WHERE campaign_id = $1 AND disposition = ${disposition} AND calls.id::text = attempts->-1->>'callId'`;

function conditions(
  campaignId: string,
  { status, outcome, disposition, externalId, toNumber }: ContactFilter,
): { where: string; parameters: Parameter[] } {
  const given = new Given(campaignId);
  const parts = [
    'campaign_id = $1',
    ...given.when(status, (place) => `status = ANY (${place}::text[])`),
    ...given.when(outcome, (place) => `outcome = ${place}`),
    ...given.when(disposition, (place) => `id IN (${lastCallWith(place)})`),
    ...given.when(externalId, (place) => `external_id = ${place}`),
    ...given.when(toNumber, (place) => `to_number = ${place}`),
  ];
  return { where: parts.join(' AND '), parameters: given.parameters };
}
