import type { AgentStore } from '../../../agents/agentStores.ts';
import type { AgentRecord } from '../../../agents/release.ts';
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
        'INSERT INTO agents (project_id, config, frozen, updated_at) VALUES ($1, $2, $3, now())',
        [projectId, JSON.stringify(config), frozen && JSON.stringify(frozen)],
      );
    },
    async save(projectId, record, updatedAt) {
      const { config, frozen } = secrets.sealAgent(record);
      await database.query(
        'UPDATE agents SET config = $2, frozen = $3, updated_at = $4 WHERE project_id = $1',
        [projectId, JSON.stringify(config), frozen && JSON.stringify(frozen), updatedAt],
      );
    },
  };
}
