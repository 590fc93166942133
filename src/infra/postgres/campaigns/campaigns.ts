import type { Campaign, CampaignSettings } from '../../../campaigns/campaign.ts';
import type { CampaignStore } from '../../../campaigns/campaignStore.ts';
import { CONTACT_OUTCOMES, CONTACT_STATUSES } from '../../../campaigns/contact.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

/** The count of calls is cast, since it would come as text. */
const COLUMNS = `id, project_id, name, description, status, status_reason, settings, placed::float8 AS placed, paced_at,
  recent_outcomes, created_at, started_at, ended_at,
  (SELECT calling_hours FROM projects WHERE projects.id = project_id) AS calling_hours,
  ${countsIn(CONTACT_STATUSES)} AS counts, ${countsIn(CONTACT_OUTCOMES)} AS outcomes`;

export function campaignStore(database: Queryable): CampaignStore {
  const rows = projectRows<Campaign>(database, 'campaigns', COLUMNS, toCampaign, 'DESC');
  return {
    find: rows.find,
    list: rows.list,
    remove: rows.remove,
    async insert({ id, projectId, name, description, status, createdAt, ...campaign }) {
      const settings = storableJson(settingsOf(campaign));
      return await rows.insert({
        id,
        project_id: projectId,
        name,
        description,
        status,
        settings,
        created_at: createdAt,
      });
    },
    async update({ id, projectId }, change) {
      const { name, description, status, statusReason, settings, placed, pacedAt, recentOutcomes, ...times } =
        change;
      await rows.update(projectId, id, {
        name,
        description,
        status,
        status_reason: statusReason,
        settings: settings && storableJson(settingsOf(settings)),
        placed,
        paced_at: pacedAt,
        recent_outcomes: recentOutcomes,
        next_at: times.nextAt,
        started_at: times.startedAt,
        ended_at: times.endedAt,
      });
    },
    async makeDue(projectId, at) {
      const sql = `UPDATE campaigns SET next_at = $2 WHERE project_id = $1 AND status = 'running'`;
      await database.query(sql, [projectId, at]);
    },
  };
}

function toCampaign(row: object): Campaign {
  const { settings, ...fields } = fieldsOf<Campaign & { readonly settings: CampaignSettings }>(row);
  return { ...fields, ...settings };
}

/** An object of columns that count contacts. */
function countsIn(columns: readonly string[]): string {
  return `json_build_object(${columns.map((column) => `'${column}', ${column}`).join(', ')})`;
}

function settingsOf(campaign: CampaignSettings): CampaignSettings {
  const { fromNumbers, callerId, schedule, pacing, retry, variables, metadata, pauseWhen, keepOpen } =
    campaign;
  return { fromNumbers, callerId, schedule, pacing, retry, variables, metadata, pauseWhen, keepOpen };
}
