import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import { starterPathway } from '../../src/agents/pathway/schema/starterPathway.ts';
import { createSealer } from '../../src/base/sealer.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { type Session, sessionData } from '../../src/engine/session/session.ts';
import type { Database } from '../../src/infra/postgres/connection/database.ts';
import { indexSessions } from '../../src/infra/postgres/sessions/sessionIndexing.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { talkingSession } from './texts.ts';

const BATCH = 2_000;
const PROJECTS = ['large', 'small'] as const;
/** Sessions of a second project in the same tables, which a search must exclude. */
const SMALL_SESSIONS = 2_000;
const INDEXES = ['session_texts_trigrams', 'session_grams_index'];

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
  await indexSessions(database, { quietMs: 0 });
  await database.transaction(async (transaction) => {
    // It takes longer than a request's query may.
    await transaction.query('SET LOCAL statement_timeout = 0');
    for (const { indexdef } of indexes) await transaction.query(indexdef);
  });
  await database.query('VACUUM ANALYZE session_texts, session_grams, session_text_changes');
  return { projectId, stores, meanBytes: bytes / sessions };
}

async function fillProject(database: Database, stores: Filled['stores'], name: string, count: number) {
  const projectId = uuidV7();
  const beganMs = Date.UTC(2026, 0, 1);
  const at = new Date(beganMs).toISOString();
  await stores.projects.insert({
    id: projectId,
    name,
    sessionIdleMinutes: 30,
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

/** @returns Bytes of the searchable texts. */
async function insert(database: Database, sessions: readonly Session[]): Promise<number> {
  const texts = sessions.map((session) => JSON.stringify(sessionData(session)));
  await database.query(
    `WITH session AS (
       INSERT INTO sessions (project_id, session_id, instance_id, channel, provider, pathway_id, release_id, turn, state,
         started_at, last_activity_at, updated_at)
       SELECT project_id::uuid, session_id, instance_id::uuid, 'chat', 'website', pathway_id::uuid, release_id, 6,
         '{}'::json, started_at::timestamptz, last_activity_at::timestamptz,
         last_activity_at::timestamptz
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
         AS given (project_id, session_id, instance_id, pathway_id, release_id, started_at, last_activity_at)
     )
     INSERT INTO session_texts (instance_id, project_id, session_id, data, created_at, updated_at)
     SELECT instance_id::uuid, project_id::uuid, session_id, data, at::timestamptz, at::timestamptz
     FROM unnest($3::text[], $1::text[], $2::text[], $8::text[], $7::text[])
       AS given (instance_id, project_id, session_id, data, at)`,
    [
      sessions.map(({ projectId }) => projectId),
      sessions.map(({ sessionId }) => sessionId),
      sessions.map(({ instanceId }) => instanceId),
      sessions.map(({ pathwayId }) => pathwayId),
      sessions.map(({ releaseId }) => releaseId),
      sessions.map(({ startedAt }) => startedAt),
      sessions.map(({ lastActivityAt }) => lastActivityAt),
      texts,
    ],
  );
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
