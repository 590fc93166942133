import type { AgentConfig } from '../../../agents/agentConfig.ts';
import type { AgentStore } from '../../../agents/agentStores.ts';
import { type AgentRecord, isWorkingCopyLive } from '../../../agents/releases/release.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';

export function agentStore(database: Queryable, secrets: SecretFields): AgentStore {
  return {
    async find(projectId, lock) {
      const [row] = await database.query<AgentRecord>(
        `SELECT config, live FROM agents WHERE project_id = $1 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId],
      );
      return row && { ...row, config: secrets.openAgent(row.config) };
    },
    async insert(projectId, { config, live }) {
      await database.query(
        'INSERT INTO agents (project_id, config, live, event_types, updated_at) VALUES ($1, $2, $3, $4, now())',
        [projectId, JSON.stringify(secrets.sealAgent(config)), live, eventTypesOf(config)],
      );
    },
    async save(projectId, record, updatedAt, callersGet) {
      const { config, live } = record;
      const served = callersGet ?? (isWorkingCopyLive(record) ? config : undefined);
      await database.query(
        `UPDATE agents SET config = $2, live = $3, updated_at = $4,
           event_types = CASE WHEN $5 THEN $6::text[] ELSE event_types END
         WHERE project_id = $1`,
        [
          projectId,
          JSON.stringify(secrets.sealAgent(config)),
          live,
          updatedAt,
          served !== undefined,
          served ? eventTypesOf(served) : null,
        ],
      );
    },
  };
}

function eventTypesOf({ eventWebhook }: AgentConfig): string[] | null {
  return eventWebhook?.events ?? null;
}
