import { judgeRollout } from '../../results/rollouts/judgeRollout.ts';
import type { NodeContext } from '../node/node.ts';
import { startWork } from './work.ts';

/** Rollouts that a node judges at once. */
const JUDGED_AT_ONCE = 2;

/** Judges rollouts on nodes that do background work. */
export function startRollouts({
  config,
  storage,
  wakeups,
  liveEvents,
  clock,
  lifecycle,
  onError,
}: NodeContext): void {
  if (!config.ROLES.includes('worker')) return;
  const { stores, transaction, insights, work } = storage;
  const deps = { stores, transaction, insights, liveEvents, clock };
  startWork(
    { wakeups, clock, lifecycle, onError },
    {
      name: 'rollouts',
      rows: work.rollouts,
      run: (claimed) => judgeRollout(deps, claimed),
      maxRunning: JUDGED_AT_ONCE,
    },
  );
}
