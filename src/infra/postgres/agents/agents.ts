import type { AgentStore } from '../../../agents/agentStores.ts';
import { type AgentRecord, liveAgent } from '../../../agents/releases/release.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';

export function agentStore(database: Queryable, secrets: SecretFields): AgentStore {
  return {
    async find(projectId, lock) {
      const [row] = await database.query<AgentRecord>(
        `SELECT config, frozen FROM agents WHERE project_id = $1 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId],
      );
      return row && secrets.openAgent(row);
    },
    async insert(projectId, record) {
      const { config, frozen } = secrets.sealAgent(record);
      await database.query(
        'INSERT INTO agents (project_id, config, frozen, event_types, updated_at) VALUES ($1, $2, $3, $4, now())',
        [projectId, JSON.stringify(config), frozen && JSON.stringify(frozen), eventTypesOf(record)],
      );
    },
    async save(projectId, record, updatedAt) {
      const { config, frozen } = secrets.sealAgent(record);
      await database.query(
        'UPDATE agents SET config = $2, frozen = $3, updated_at = $4, event_types = $5 WHERE project_id = $1',
        [
          projectId,
          JSON.stringify(config),
          frozen && JSON.stringify(frozen),
          updatedAt,
          eventTypesOf(record),
        ],
      );
    },
  };
}

function eventTypesOf(record: AgentRecord): string[] | null {
  return liveAgent(record).eventWebhook?.events ?? null;
}
