import { mapPage } from '../../../base/values/page.ts';
import type { Campaign, CampaignSettings, CampaignStatus } from '../../../campaigns/campaign.ts';
import type { CampaignChange, CampaignStore } from '../../../campaigns/campaignStore.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime, isoTimeOrNull } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

interface CampaignRow {
  id: string;
  project_id: string;
  name: string;
  description: string | null;
  status: CampaignStatus;
  status_reason: string | null;
  settings: CampaignSettings;
  pending: number;
  calling: number;
  waiting: number;
  done: number;
  skipped: number;
  /** The number as text, since it is a bigint. */
  placed: string;
  paced_at: Date | null;
  recent_outcomes: string;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
}

const CAMPAIGN_COLUMNS = `id, project_id, name, description, status, status_reason, settings, pending, calling,
  waiting, done, skipped, placed, paced_at, recent_outcomes, created_at, started_at, ended_at`;
/** Contacts that one statement removes. */
const REMOVED_AT_ONCE = 5_000;

/** The columns that a change may set. */
const CHANGES: Readonly<Record<keyof CampaignChange, string>> = {
  name: 'name',
  description: 'description',
  status: 'status',
  statusReason: 'status_reason',
  settings: 'settings',
  recentOutcomes: 'recent_outcomes',
  nextAt: 'next_at',
  startedAt: 'started_at',
  endedAt: 'ended_at',
};

export function campaignStore(database: Queryable): CampaignStore {
  const rows = projectRows<CampaignRow>(database, 'campaigns', CAMPAIGN_COLUMNS);
  return {
    async insert({ id, projectId, name, description, status, createdAt, ...campaign }) {
      await database.query(
        `INSERT INTO campaigns (id, project_id, name, description, status, settings, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [id, projectId, name, description, status, storableJson(settingsOf(campaign)), createdAt],
      );
    },
    async find(projectId, id, lock) {
      const row = await rows.find(projectId, id, lock);
      return row && fromCampaignRow(row);
    },
    list: async (projectId, page) => mapPage(await rows.list(projectId, page), fromCampaignRow),
    async update(id, change) {
      const fields = Object.entries(change) as [keyof CampaignChange, CampaignChange[keyof CampaignChange]][];
      if (fields.length === 0) return;
      const set = fields.map(([field], index) => `${CHANGES[field]} = $${index + 2}`).join(', ');
      const values = fields.map(([field, value]) =>
        field === 'settings' ? storableJson(value) : (value as Parameter),
      );
      await database.query(`UPDATE campaigns SET ${set} WHERE id = $1`, [id, ...values]);
    },
    async removeContacts(id) {
      const sql = `DELETE FROM campaign_contacts WHERE id IN (
        SELECT id FROM campaign_contacts WHERE campaign_id = $1 LIMIT ${REMOVED_AT_ONCE}) RETURNING 1`;
      while ((await database.query(sql, [id])).length > 0);
    },
    remove: rows.remove,
  };
}

function fromCampaignRow(row: CampaignRow): Campaign {
  const { pending, calling, waiting, done, skipped } = row;
  return {
    ...row.settings,
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    description: row.description,
    status: row.status,
    statusReason: row.status_reason,
    counts: { pending, calling, waiting, done, skipped },
    placed: Number(row.placed),
    pacedAt: isoTimeOrNull(row.paced_at),
    recentOutcomes: row.recent_outcomes,
    createdAt: isoTime(row.created_at),
    startedAt: isoTimeOrNull(row.started_at),
    endedAt: isoTimeOrNull(row.ended_at),
  };
}

function settingsOf(campaign: CampaignSettings): CampaignSettings {
  const { fromNumbers, callerId, schedule, pacing, retry, variables, metadata, pauseWhen, keepOpen } =
    campaign;
  return { fromNumbers, callerId, schedule, pacing, retry, variables, metadata, pauseWhen, keepOpen };
}
