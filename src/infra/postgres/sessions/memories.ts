import type { MemoryStore } from '../../../engine/memory/customerMemory.ts';
import type { Queryable } from '../connection/database.ts';
import { storableText } from '../sql/storable.ts';

export function memoryStore(database: Queryable): MemoryStore {
  return {
    async find(projectId, customer) {
      const [row] = await database.query<{ memory: string }>(
        'SELECT memory FROM customer_memories WHERE project_id = $1 AND customer = $2',
        [projectId, customer],
      );
      return row?.memory;
    },
    async keep(projectId, customer, text, instanceId) {
      // The lock makes an erasure of the session wait, which removes the memory after it.
      await database.query(
        `WITH session AS (SELECT FROM session_history WHERE instance_id = $4 FOR KEY SHARE)
         INSERT INTO customer_memories (project_id, customer, memory, updated_at) SELECT $1, $2, $3, now() FROM session
         ON CONFLICT (project_id, customer) DO UPDATE
           SET memory = excluded.memory, updated_at = excluded.updated_at`,
        [projectId, customer, storableText(text), instanceId],
      );
    },
  };
}
