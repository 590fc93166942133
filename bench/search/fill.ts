import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import { starterPathway } from '../../src/agents/pathway/schema/starterPathway.ts';
import { createSealer } from '../../src/base/sealer.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { type Session, sessionData } from '../../src/engine/session/session.ts';
import type { Database } from '../../src/infra/postgres/connection/database.ts';
import { messageText } from '../../src/infra/postgres/sessions/historyRows.ts';
import { dataText } from '../../src/infra/postgres/sessions/sessions.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { talkingSession } from './texts.ts';

const BATCH = 2_000;
/** The service would end the sessions, which began long ago. */
const NEVER_MINUTES = 10_000_000;
const PROJECTS = ['large', 'small'] as const;
/** Sessions of a second project in the same tables, which a search must exclude. */
const SMALL_SESSIONS = 2_000;
const INDEXES = ['sessions_by_data', 'session_messages_by_text'];

export interface Filled {
  readonly projectId: string;
  readonly stores: ReturnType<typeof createStorage>['stores'];
  /** Average size of one session's data as JSON text. */
  readonly meanBytes: number;
}

/** Inserts live sessions into a database with empty tables. */
export async function fill(database: Database, sessions: number): Promise<Filled> {
  const { stores } = createStorage(database, createSealer(Buffer.alloc(32, 1)));
  // Building the index at the end is much faster than row by row.
  const indexes = await database.query<{ indexdef: string }>(
    'SELECT indexdef FROM pg_indexes WHERE indexname = ANY ($1)',
    [INDEXES],
  );
  await database.query(`DROP INDEX ${INDEXES.join()}`, []);
  let projectId = '';
  let bytes = 0;
  for (const name of PROJECTS) {
    const count = name === 'large' ? sessions : SMALL_SESSIONS;
    const filled = await fillProject(database, stores, name, count);
    if (name !== 'large') continue;
    ({ projectId } = filled);
    bytes = filled.bytes;
  }
  await database.transaction(async (transaction) => {
    // It takes longer than a request's query may.
    await transaction.query('SET LOCAL statement_timeout = 0');
    for (const { indexdef } of indexes) await transaction.query(indexdef);
  });
  await database.query('VACUUM ANALYZE sessions, session_history, session_messages');
  return { projectId, stores, meanBytes: bytes / sessions };
}

async function fillProject(database: Database, stores: Filled['stores'], name: string, count: number) {
  const projectId = uuidV7();
  const beganMs = Date.UTC(2026, 0, 1);
  const at = new Date(beganMs).toISOString();
  await stores.projects.insert({
    id: projectId,
    name,
    sessionIdleMinutes: NEVER_MINUTES,
    historyRetentionDays: 30,
    reportUsage: false,
    createdAt: at,
    updatedAt: at,
  });
  const pathwayId = uuidV7();
  const releaseId = await stores.releases.keep(projectId, {
    agent: newAgentConfig('Bench'),
    pathwayId,
    pathwayVersion: 1,
    pathway: starterPathway(),
    tools: [],
  });
  let bytes = 0;
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
      talkingSession(from + index, { projectId, pathwayId, releaseId, instanceId: uuidV7() }, beganMs),
    );
    bytes += await insert(database, batch);
  }
  return { projectId, bytes };
}

/** @returns Bytes of the sessions' data. */
async function insert(database: Database, sessions: readonly Session[]): Promise<number> {
  const messages = sessions.flatMap(({ instanceId, projectId, state }) =>
    state.messages.map((message, position) => ({ instanceId, projectId, message, position })),
  );
  await database.query(
    `WITH session AS (
       INSERT INTO sessions (project_id, session_id, instance_id, channel, provider, pathway_id, release_id, turn, state,
         data, started_at, last_activity_at, updated_at)
       SELECT project_id::uuid, session_id, instance_id::uuid, 'chat', 'website', pathway_id::uuid, release_id, 6,
         '{}'::json, data, started_at::timestamptz, last_activity_at::timestamptz, last_activity_at::timestamptz
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         AS given (project_id, session_id, instance_id, pathway_id, release_id, started_at, last_activity_at, data)
       RETURNING *
     )
     INSERT INTO session_history
       (instance_id, project_id, session_id, channel, status, started_at, message_count, message_characters)
     SELECT instance_id, project_id, session_id, channel, 'active', started_at, 12, 4000 FROM session`,
    [
      sessions.map(({ projectId }) => projectId),
      sessions.map(({ sessionId }) => sessionId),
      sessions.map(({ instanceId }) => instanceId),
      sessions.map(({ pathwayId }) => pathwayId),
      sessions.map(({ releaseId }) => releaseId),
      sessions.map(({ startedAt }) => startedAt),
      sessions.map(({ lastActivityAt }) => lastActivityAt),
      sessions.map(dataText),
    ],
  );
  await database.query(
    `INSERT INTO session_messages (instance_id, project_id, position, message, text)
     SELECT instance_id::uuid, project_id::uuid, position, message::json, text
     FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::text[])
       AS given (instance_id, project_id, position, message, text)`,
    [
      messages.map(({ instanceId }) => instanceId),
      messages.map(({ projectId }) => projectId),
      messages.map(({ position }) => position),
      messages.map(({ message }) => JSON.stringify(message)),
      messages.map(({ message }) => messageText(message)),
    ],
  );
  return sessions.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(sessionData(one))), 0);
}
