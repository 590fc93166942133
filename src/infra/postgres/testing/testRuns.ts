import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import { toReleaseName } from '../../../base/values/releaseName.ts';

import { caseStatusOf, summaryOf } from '../../../testing/runs/showRun.ts';
import type { ListedRun, PlayStatus } from '../../../testing/runs/testRun.ts';
import type {
  NewRun,
  RunDetail,
  RunFilter,
  StoredRun,
  TestRunStore,
} from '../../../testing/runs/testRunStore.ts';
import { casesOfSuite } from '../agents/testCases.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { newestSession } from '../sessions/newestSession.ts';
import { Given } from '../sql/given.ts';
import { queryPage } from '../sql/pages.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';
import { RUN_COLUMNS, testPlays } from './testPlays.ts';

/** The statuses of each case's plays. */
const STATUSES = `
  (SELECT json_agg(statuses) FROM (
    SELECT json_agg(status) AS statuses FROM test_plays WHERE run_id = test_runs.id GROUP BY position
  ) AS cases) AS cases`;

export function testRunStore(database: Queryable): TestRunStore {
  return {
    ...testPlays(database),
    casesOf: (projectId, testSuiteId, maxBytes) => casesOfSuite(database, projectId, testSuiteId, maxBytes),
    insert: (run) => insertRun(database, run),
    async trim(projectId, keep) {
      await database.query(
        `DELETE FROM test_runs WHERE id IN (
           SELECT id FROM test_runs WHERE project_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2
         ) AND ended_at IS NOT NULL`,
        [projectId, keep],
      );
    },
    async find(projectId, runId, { withTranscripts = false } = {}) {
      if (!isUuid(runId)) return undefined;
      const [row] = await database.query<object>(
        `SELECT ${RUN_COLUMNS} FROM test_runs WHERE project_id = $1 AND id = $2`,
        [projectId, runId],
      );
      if (!row) return undefined;
      const cases = await database.query<RunDetail['cases'][number]>(
        'SELECT test_case_id AS "testCaseId", contact_id AS "contactId", name FROM test_run_cases WHERE run_id = $1 ORDER BY position',
        [runId],
      );
      const plays = await database.query<RunDetail['plays'][number]>(
        `SELECT position, index, seed::float8 AS seed, status,
           CASE WHEN $2 THEN result ELSE jsonb_set(result::jsonb, '{transcript}', '[]')::json END AS result
         FROM test_plays WHERE run_id = $1 ORDER BY position, index`,
        [runId, withTranscripts],
      );
      return { run: fieldsOf<StoredRun>(row), cases, plays };
    },
    async list(projectId, filter, page) {
      const { where, parameters } = conditions(projectId, filter);
      const found = await queryPage<object>(
        database,
        {
          name: 'test_runs',
          columns: `${RUN_COLUMNS}, ${STATUSES}`,
          from: 'test_runs',
          where,
          parameters,
          order: [
            { column: 'created_at', type: 'time' },
            { column: 'id', type: 'uuid' },
          ],
          direction: 'DESC',
        },
        page,
      );
      return mapPage(found, toListed);
    },
  };
}

async function insertRun(database: Queryable, { run, cases, plays }: NewRun): Promise<void> {
  await database.query(
    `INSERT INTO test_runs (id, project_id, test_suite_id, baseline_run_id, name, status, version, mode, model,
       repeat, concurrency, seed, release_id, plays, source_instance_id, replays_session_id, created_at, release)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, ${newestSession('$2', '$15')}, $15, $16, $17)`,
    [
      run.id,
      run.projectId,
      run.testSuiteId,
      run.baselineRunId,
      run.name,
      run.status,
      run.version,
      run.mode,
      run.model,
      run.repeat,
      run.concurrency,
      run.seed,
      run.releaseId,
      plays.length,
      run.replaysSessionId,
      run.createdAt,
      run.release,
    ],
  );
  await database.query(
    `INSERT INTO test_run_cases (run_id, position, test_case_id, contact_id, name, channel, definition)
     SELECT $1::uuid, position - 1, test_case_id, contact_id, name, channel, definition::json
     FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
       AS played (test_case_id, contact_id, name, channel, definition, position)`,
    [
      run.id,
      cases.map(({ testCaseId }) => testCaseId),
      cases.map(({ contactId }) => contactId ?? null),
      cases.map(({ name }) => name),
      cases.map(({ definition }) => definition.channel),
      cases.map(({ definition }) => storableJson(definition)),
    ],
  );
  await database.query(
    `INSERT INTO test_plays (run_id, number, position, index, seed, channel, status)
     SELECT $1::uuid, number - 1, position, index, seed,
       (SELECT channel FROM test_run_cases WHERE run_id = $1 AND position = played.position), 'queued'
     FROM unnest($2::integer[], $3::integer[], $4::bigint[]) WITH ORDINALITY
       AS played (position, index, seed, number)`,
    [
      run.id,
      plays.map(({ position }) => position),
      plays.map(({ index }) => index),
      plays.map(({ seed }) => seed),
    ],
  );
  await database.query(
    `INSERT INTO test_lanes (id, run_id, project_id, channel, next_at)
     SELECT gen_random_uuid(), $1, $2, channel, $4::timestamptz
     FROM (SELECT DISTINCT channel FROM test_run_cases WHERE run_id = $1) AS channels, generate_series(1, $3::integer)`,
    [run.id, run.projectId, run.concurrency, run.createdAt],
  );
}

function conditions(
  projectId: string,
  { testSuiteId, status }: RunFilter,
): { where: string; parameters: Parameter[] } {
  const given = new Given(projectId);
  const suite = testSuiteId !== undefined && !isUuid(testSuiteId) ? null : testSuiteId;
  const parts = [
    'project_id = $1',
    ...given.when(suite, (place) => `test_suite_id = ${place}::uuid`),
    ...given.when(status, (place) => `status = ${place}`),
  ];
  return { where: parts.join(' AND '), parameters: given.parameters };
}

function toListed(row: object): ListedRun {
  const { cases, ...stored } = fieldsOf<StoredRun & { cases: PlayStatus[][] | null }>(row);
  const { baselineRunId: _baseline, releaseId: _release, replaysSessionId: _replayed, ...run } = stored;
  return { ...run, release: toReleaseName(run.release), summary: summaryOf((cases ?? []).map(caseStatusOf)) };
}
