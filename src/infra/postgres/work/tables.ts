import type { LeasedWork, WorkDepth } from '../../../work/work.ts';
import { waitingDepth } from '../calls/waitingCalls.ts';
import type { Queryable } from '../connection/database.ts';
import { leasedWork, type WorkTable, workDepth } from './claims.ts';

/** Alerts and rollouts are looked at once a minute, and after a failure within one more. */
const LOOK_DELAY_SECONDS = 120;

/** The tables of leased work, by kind: the name of its `WorkKind` and of its gauge. */
const WORK_TABLES = {
  ingestion: { name: 'datasets' },
  alerts: { name: 'alerts', longestDelaySeconds: LOOK_DELAY_SECONDS },
  rollouts: { name: 'rollouts', longestDelaySeconds: LOOK_DELAY_SECONDS },
  'contact-imports': { name: 'contact_imports' },
  analyses: { name: 'session_analyses' },
  'test-runs': { name: 'test_lanes', where: "channel <> 'phone'" },
  'test-calls': { name: 'test_lanes', where: "channel = 'phone'" },
} as const satisfies Record<string, WorkTable>;

/** The projects with waiting calls. */
export const CALL_QUEUES: WorkTable = { name: 'call_queues' };

/** The scheduled calls; not counted, since nearly all of them wait for their time. */
export const SCHEDULED_CALLS: WorkTable = { name: 'calls', where: "status = 'scheduled'" };

/** Returns the work of {@link WORK_TABLES} by kind. */
export function leasedWorks(database: Queryable) {
  const works = Object.entries(WORK_TABLES).map(([kind, table]) => [kind, leasedWork(database, table)]);
  return Object.fromEntries(works) as Readonly<Record<keyof typeof WORK_TABLES, LeasedWork>>;
}

/** Returns how much work of each kind there is. */
export async function workDepths(database: Queryable, now: Date): Promise<Map<string, WorkDepth>> {
  const depths = Object.entries(WORK_TABLES).map(
    async ([kind, table]) => [kind, await workDepth(database, table, now)] as const,
  );
  const calls = async () => ['calls', await waitingDepth(database, now)] as const;
  return new Map(await Promise.all([calls(), ...depths]));
}
