import { alertWork } from '../../results/alerts/evaluateAlert.ts';
import type { NodeContext } from '../node/node.ts';
import { startWork } from './work.ts';

/** Looks at alerts on nodes that do background work. */
export function startAlerts({
  config,
  storage,
  wakeups,
  liveEvents,
  clock,
  lifecycle,
  onError,
}: NodeContext) {
  if (!config.ROLES.includes('worker')) return;
  const { insights, stores, work } = storage;
  const deps = { alerts: stores.alerts, insights, liveEvents, clock };
  startWork({ wakeups, clock, lifecycle, onError }, alertWork(deps, work.alerts));
}
