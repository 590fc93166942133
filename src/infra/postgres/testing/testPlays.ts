import type { PlayedSession } from '../../../testing/play/testSessions.ts';
import type { RunStatus } from '../../../testing/runs/testRun.ts';
import type {
  PlayedDefinition,
  StoredRun,
  TestLane,
  TestRunStore,
} from '../../../testing/runs/testRunStore.ts';
import type { Queryable } from '../connection/database.ts';
import { insertEvents, insertMessages } from '../sessions/historyRows.ts';
import { recordColumns } from '../sessions/sessions.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

export const RUN_COLUMNS = `id, project_id, test_suite_id, baseline_run_id, name, status, version, mode, model, repeat, concurrency,
  seed::float8 AS seed, release_id, release, replays_session_id, created_at, started_at, ended_at`;

type ClaimedRun = StoredRun & {
  /** The play's number; null when the project already runs as many plays as it may. */
  readonly number: number | null;
  readonly playSeed: number;
  readonly attempt: number;
  readonly definition: PlayedDefinition;
};

/** The plays of runs: claimed, played, stored. Each method is one statement. */
export function testPlays(
  database: Queryable,
): Pick<
  TestRunStore,
  | 'findLane'
  | 'removeLane'
  | 'claim'
  | 'saveResult'
  | 'release'
  | 'finish'
  | 'cancel'
  | 'isCanceled'
  | 'saveSession'
> {
  return {
    async findLane(laneId) {
      const [lane] = await database.query<TestLane>(
        'SELECT id, run_id AS "runId", channel FROM test_lanes WHERE id = $1',
        [laneId],
      );
      return lane;
    },
    async removeLane(laneId) {
      await database.query('DELETE FROM test_lanes WHERE id = $1', [laneId]);
    },
    async claim({ id, runId, channel }, maxRunning, now) {
      const [row] = await database.query<object>(CLAIM, [runId, id, channel, maxRunning, now]);
      if (!row) return undefined;
      const { number, playSeed, attempt, definition, ...run } = fieldsOf<ClaimedRun>(row);
      return number === null ? 'wait' : { run, number, seed: playSeed, attempt, definition };
    },
    async saveResult({ run, number, attempt }, status, result) {
      const saved = await database.query(
        `UPDATE test_plays SET status = $4, result = $5::json,
           instance_id = (SELECT instance_id FROM session_history
             WHERE project_id = $6 AND session_id = $7 AND is_test LIMIT 1)
         WHERE run_id = $1 AND number = $2 AND attempt = $3 AND status = 'running' RETURNING number`,
        [run.id, number, attempt, status, storableJson(result), run.projectId, result.sessionId ?? null],
      );
      return saved.length > 0;
    },
    async release({ run, number, attempt }) {
      // It is not the play's fault.
      await database.query(
        `UPDATE test_plays SET status = 'queued', lane = NULL, attempt = attempt - 1
         WHERE run_id = $1 AND number = $2 AND attempt = $3 AND status = 'running'`,
        [run.id, number, attempt],
      );
    },
    async finish(runId, now) {
      const [ended] = await database.query<{ status: RunStatus }>(FINISH, [runId, now]);
      return ended?.status;
    },
    async cancel(projectId, runId, now) {
      const canceled = await database.query(CANCEL, [projectId, runId, now]);
      return canceled.length > 0;
    },
    async isCanceled(runId) {
      const live = await database.query('SELECT FROM test_runs WHERE id = $1 AND ended_at IS NULL', [runId]);
      return live.length === 0;
    },
    async saveSession(played) {
      await database.query(SAVE_SESSION, sessionColumns(played));
    },
  };
}

/** A lane that has begun a play before its node died begins it again. */
const CLAIM = `
  WITH run AS (
    SELECT ${RUN_COLUMNS} FROM test_runs WHERE id = $1 AND ended_at IS NULL
  ), busy AS (
    SELECT count(*) >= $4 AS is_full FROM test_runs AS other JOIN test_plays ON run_id = other.id
    WHERE other.ended_at IS NULL AND other.project_id = (SELECT project_id FROM run)
      AND test_plays.status = 'running' AND NOT (run_id = $1 AND lane = $2)
  ), next AS (
    SELECT run_id, number FROM test_plays
    WHERE run_id = (SELECT id FROM run) AND channel = $3
      AND (status = 'queued' AND NOT (SELECT is_full FROM busy) OR status = 'running' AND lane = $2)
    ORDER BY status = 'queued', number LIMIT 1 FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE test_plays SET status = 'running', lane = $2, attempt = attempt + 1
    FROM next WHERE test_plays.run_id = next.run_id AND test_plays.number = next.number
    RETURNING test_plays.*
  ), started AS (
    UPDATE test_runs SET status = 'running', started_at = coalesce(started_at, $5::timestamptz)
    FROM claimed WHERE id = claimed.run_id AND test_runs.status = 'queued'
  )
  SELECT run.*, claimed.number, claimed.seed::float8 AS play_seed, claimed.attempt,
    (SELECT definition FROM test_run_cases
     WHERE run_id = claimed.run_id AND position = claimed.position) AS definition
  FROM run LEFT JOIN claimed ON true
  WHERE claimed.number IS NOT NULL OR (SELECT is_full FROM busy) AND EXISTS (
    SELECT FROM test_plays WHERE run_id = run.id AND channel = $3 AND test_plays.status = 'queued')`;

const FINISH = `
  UPDATE test_runs SET ended_at = $2, started_at = coalesce(started_at, $2), status = CASE
    WHEN EXISTS (SELECT FROM test_plays WHERE run_id = $1 AND test_plays.status = 'failed') THEN 'failed'
    WHEN EXISTS (SELECT FROM test_plays WHERE run_id = $1 AND test_plays.status = 'error') THEN 'error'
    ELSE 'passed' END
  WHERE id = $1 AND ended_at IS NULL AND NOT EXISTS (
    SELECT FROM test_plays WHERE run_id = $1 AND test_plays.status IN ('queued', 'running'))
  RETURNING status`;

const CANCEL = `
  WITH canceled AS (
    UPDATE test_runs SET status = 'canceled', ended_at = $3
    WHERE project_id = $1 AND id = $2 AND ended_at IS NULL RETURNING id
  ), plays AS (
    UPDATE test_plays SET status = 'canceled' FROM canceled
    WHERE run_id = canceled.id AND status IN ('queued', 'running')
  )
  SELECT id FROM canceled`;

const SAVE_SESSION = `
  WITH history AS (
    INSERT INTO session_history (instance_id, project_id, session_id, channel, provider, call_id, status, started_at,
      ended_at, end_reason, variables, message_count, turns, is_test, message_characters, event_characters, release)
    VALUES ($1, $2, $3, $4, $5, NULL, 'ended', $6, $7, $8, $9::json,
      cardinality(array_remove($18::text[], NULL)), $11, true, $16, $17, $19)
    ON CONFLICT (instance_id) DO NOTHING RETURNING instance_id, project_id
  ), messages AS (${insertMessages('history', ['$10', '$18', '$12'])}
  )${insertEvents('history', ['$13', '$14', '$15'])}`;

function sessionColumns({ session, messages, events, endedAt, endReason }: PlayedSession) {
  const columns = recordColumns({ messages, events });
  return [
    session.instanceId,
    session.projectId,
    session.sessionId,
    session.channel,
    session.provider,
    session.startedAt,
    endedAt,
    endReason,
    storableJson(session.state.variables),
    columns.messages,
    session.turn,
    columns.latencies,
    columns.types,
    columns.times,
    columns.data,
    ...columns.sizes,
    columns.texts,
    session.release,
  ];
}
