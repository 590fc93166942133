import type { DueContacts } from '../../../campaigns/campaignStore.ts';
import type { DueWork } from '../../../work/work.ts';
import type { Queryable } from '../connection/database.ts';
import { isoTime } from '../sql/rows.ts';
import { claimer } from '../work/claims.ts';
import { CONTACT_COLUMNS, toContact, zonesIn } from './contacts.ts';

/** Contacts whose time has come that a step takes over. */
const RELEASED_AT_ONCE = 1_000;

/** Returns the campaigns whose next step is due. A step sets the time of the next one itself, as other changes do. */
export function dueCampaigns(database: Queryable): DueWork {
  return { claimDue: claimer(database, { name: 'campaigns' }) };
}

/** Finds the next contact of a campaign by indexes alone, so that it costs the same for one of a million. */
export function dueContacts(database: Queryable): DueContacts {
  return {
    async release(campaignId, now) {
      await database.query(
        `UPDATE campaign_contacts SET not_before = NULL WHERE id IN (
           SELECT id FROM campaign_contacts WHERE campaign_id = $1 AND ${LATER} AND not_before <= $2
           ORDER BY not_before LIMIT ${RELEASED_AT_ONCE})`,
        [campaignId, now],
      );
    },
    async nextRelease(campaignId) {
      const [row] = await database.query<{ at: Date | null }>(
        `SELECT min(not_before) AS at FROM campaign_contacts WHERE campaign_id = $1 AND ${LATER}`,
        [campaignId],
      );
      return row?.at ? isoTime(row.at) : null;
    },
    async zones(campaignId) {
      const rows = await database.query<{ zones: string }>(ZONES, [campaignId]);
      return rows.map(({ zones }) => zonesIn(zones));
    },
    async first(campaignId, open) {
      const [row] = await database.query<object>(FIRST, [campaignId, open.map((zones) => zones.join())]);
      return row && toContact(row);
    },
    async isImporting(campaignId) {
      const sql = `SELECT FROM contact_imports WHERE campaign_id = $1 AND status = 'running' LIMIT 1`;
      return (await database.query(sql, [campaignId])).length > 0;
    },
    async hasQueued(campaignId, before) {
      const sql = `SELECT FROM calls WHERE campaign_id = $1 AND status = 'queued' AND created_at < $2 LIMIT 1`;
      return (await database.query(sql, [campaignId, before])).length > 0;
    },
    async allZones(campaignId) {
      const rows = await database.query<{ zones: string }>(
        `SELECT DISTINCT zones FROM campaign_contacts WHERE campaign_id = $1 AND status IN ('pending', 'waiting')`,
        [campaignId],
      );
      return rows.map(({ zones }) => zonesIn(zones));
    },
  };
}

/** The conditions of the indexes of contacts that may be called now, and of those that may be called later. */
const NOW = `status IN ('pending', 'waiting') AND not_before IS NULL`;
const LATER = `status IN ('pending', 'waiting') AND not_before IS NOT NULL`;

/** Reads each distinct list of zones by one look-up. */
const ZONES = `
  WITH RECURSIVE visited AS (
    (SELECT zones FROM campaign_contacts WHERE campaign_id = $1 AND ${NOW} ORDER BY zones LIMIT 1)
    UNION ALL
    SELECT following.zones FROM visited CROSS JOIN LATERAL (
      SELECT zones FROM campaign_contacts WHERE campaign_id = $1 AND ${NOW} AND zones > visited.zones
      ORDER BY zones LIMIT 1
    ) AS following
  )
  SELECT zones FROM visited`;

/** Selects the first contact of each open zone, and the first of these. */
const FIRST = `
  SELECT contact.* FROM unnest($2::text[]) AS open (zones) CROSS JOIN LATERAL (
    SELECT ${CONTACT_COLUMNS} FROM campaign_contacts
    WHERE campaign_id = $1 AND ${NOW} AND campaign_contacts.zones = open.zones
    ORDER BY priority DESC, id LIMIT 1
  ) AS contact
  ORDER BY priority DESC, id LIMIT 1`;
