import type { WorkDepth } from '../../../work/work.ts';
import { waitingDepth } from '../calls/waitingCalls.ts';
import type { Queryable } from '../connection/database.ts';
import { type WorkTable, workDepth } from './claims.ts';

/** Alerts and rollouts are looked at once a minute, and after a failure within one more. */
const LOOK_DELAY_SECONDS = 120;

/** The tables of leased work, by kind. */
export const WORK_TABLES = {
  ingestion: { name: 'datasets', key: 'id' },
  alerts: { name: 'alerts', key: 'id', longestDelaySeconds: LOOK_DELAY_SECONDS },
  rollouts: { name: 'rollouts', key: 'id', longestDelaySeconds: LOOK_DELAY_SECONDS },
  'contact-imports': { name: 'contact_imports', key: 'id' },
  analyses: { name: 'session_analyses', key: 'id' },
  'test-runs': { name: 'test_lanes', key: 'id', where: "channel <> 'phone'" },
  'test-calls': { name: 'test_lanes', key: 'id', where: "channel = 'phone'" },
} as const satisfies Record<string, WorkTable>;

/** The projects with waiting calls. */
export const CALL_QUEUES: WorkTable = { name: 'call_queues', key: 'id' };

/** The scheduled calls; not counted, since nearly all of them wait for their time. */
export const SCHEDULED_CALLS: WorkTable = { name: 'calls', key: 'id', where: "status = 'scheduled'" };

/** Returns how much work of each kind there is. */
export async function workDepths(database: Queryable, now: Date): Promise<Map<string, WorkDepth>> {
  const depths = Object.entries(WORK_TABLES).map(
    async ([kind, table]) => [kind, await workDepth(database, table, now)] as const,
  );
  const calls = async () => ['calls', await waitingDepth(database, now)] as const;
  return new Map(await Promise.all([calls(), ...depths]));
}
