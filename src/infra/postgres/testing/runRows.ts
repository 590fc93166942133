import type { RunStatus } from '../../../testing/runs/testRun.ts';
import type { StoredRun } from '../../../testing/runs/testRunStore.ts';
import { isoTime, isoTimeOrNull } from '../sql/rows.ts';

export interface RunRow {
  id: string;
  project_id: string;
  test_suite_id: string | null;
  baseline_run_id: string | null;
  name: string;
  status: RunStatus;
  version: StoredRun['version'];
  mode: StoredRun['mode'];
  model: string | null;
  repeat: number;
  concurrency: number;
  /** The number as text, since it is a bigint. */
  seed: string;
  release_id: string;
  replays_session_id: string | null;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
}

export const RUN_COLUMNS = `id, project_id, test_suite_id, baseline_run_id, name, status, version, mode, model, repeat, concurrency,
  seed::text, release_id, replays_session_id, created_at, started_at, ended_at`;

export function toRun(row: RunRow): StoredRun {
  return {
    id: row.id,
    projectId: row.project_id,
    testSuiteId: row.test_suite_id,
    baselineRunId: row.baseline_run_id,
    name: row.name,
    status: row.status,
    version: row.version,
    mode: row.mode,
    model: row.model,
    repeat: row.repeat,
    concurrency: row.concurrency,
    seed: Number(row.seed),
    releaseId: row.release_id,
    replaysSessionId: row.replays_session_id,
    createdAt: isoTime(row.created_at),
    startedAt: isoTimeOrNull(row.started_at),
    endedAt: isoTimeOrNull(row.ended_at),
  };
}
