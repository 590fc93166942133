import {
  type AnalysisJob,
  type AnalysisStore,
  MAX_JOB_SESSIONS,
} from '../../../results/analysis/analysisStore.ts';
import type { Queryable } from '../connection/database.ts';
import { resultParameters, setResults } from '../sessions/sessionResults.ts';
import { Given } from '../sql/given.ts';
import { fieldsOf } from '../sql/rows.ts';
import { SESSIONS, sessionConditions } from './sessionConditions.ts';

export function analysisStore(database: Queryable): AnalysisStore {
  return {
    async newest(projectId, sessionId) {
      const [row] = await database.query<{ instance_id: string }>(
        `SELECT instance_id FROM session_history WHERE project_id = $1 AND session_id = $2
         ORDER BY started_at DESC, instance_id DESC LIMIT 1`,
        [projectId, sessionId],
      );
      return row?.instance_id;
    },
    async save(instanceId, results) {
      const sql = `UPDATE session_history SET ${setResults('$2', '$3')} WHERE instance_id = $1`;
      await database.query(sql, [instanceId, ...resultParameters(results)]);
    },
    async insertJob({ id, projectId, createdAt }, { from, to, ...filter }) {
      const given = new Given(projectId, id, createdAt, from, to);
      const sql = insertJob(sessionConditions(given, filter));
      const [job] = await database.query<{ total: number }>(sql, given.parameters);
      return job?.total ?? 0;
    },
    async findJob(projectId, id) {
      const [row] = await database.query<object>(FIND_JOB, [projectId, id]);
      if (!row) return undefined;
      const { left, ...job } = fieldsOf<Omit<AnalysisJob, 'status' | 'done'> & { readonly left: number }>(
        row,
      );
      return { ...job, status: left === 0 ? 'done' : 'running', done: job.total - left };
    },
    async instanceOf(workId) {
      const [row] = await database.query<{ instance_id: string }>(
        'SELECT instance_id FROM session_analyses WHERE id = $1',
        [workId],
      );
      return row?.instance_id;
    },
    async settle(workId, results) {
      const hasFailed = results.analysis?.status === 'failed';
      await database.query(SETTLE, [workId, ...resultParameters(results), hasFailed]);
    },
  };
}

const ENDED_WITHIN = `project_id = $1 AND status = 'ended' AND NOT is_test
  AND started_at >= $4::timestamptz AND started_at < $5::timestamptz`;

/** The newest sessions first. */
const insertJob = (conditions: readonly string[]): string => `
  WITH chosen AS (
    SELECT instance_id FROM ${SESSIONS}
    WHERE ${[ENDED_WITHIN, ...conditions].join(' AND ')} ORDER BY started_at DESC LIMIT ${MAX_JOB_SESSIONS + 1}
  ), job AS (
    INSERT INTO analysis_jobs (id, project_id, total, created_at)
    SELECT $2::uuid, $1, count(*), $3::timestamptz FROM chosen RETURNING id, total
  ), rows AS (
    INSERT INTO session_analyses (job_id, project_id, instance_id, next_at)
    SELECT job.id, $1, instance_id, $3::timestamptz FROM job, chosen
  )
  SELECT total FROM job`;

const FIND_JOB = `
  SELECT id, total, failed, created_at,
    (SELECT count(*)::integer FROM session_analyses WHERE job_id = job.id) AS left
  FROM analysis_jobs AS job WHERE project_id = $1 AND id::text = $2`;

const SETTLE = `
  WITH removed AS (
    DELETE FROM session_analyses WHERE id = $1 RETURNING job_id, instance_id
  ), history AS (
    UPDATE session_history AS history SET ${setResults('$2', '$3')}
    FROM removed WHERE history.instance_id = removed.instance_id
  )
  UPDATE analysis_jobs AS job SET failed = failed + 1 FROM removed WHERE job.id = removed.job_id AND $4::boolean`;
