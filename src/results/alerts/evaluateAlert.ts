import { type Clock, MINUTE_MS } from '../../base/values/clock.ts';
import { toSessionFilter } from '../../engine/history/sessionFilter.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { Again, ClaimedWork, LeasedWork } from '../../work/work.ts';
import type { WorkKind } from '../../work/worker.ts';
import type { Figure, InsightStore } from '../insights/insightStore.ts';
import { SUM_METRICS } from '../insights/metrics.ts';
import { type Alert, CALM_LOOKS } from './alert.ts';
import type { AlertStore } from './alertStore.ts';

/** Alerts that a node evaluates at once; each reads the sessions of its window. */
const MAX_RUNNING = 4;

interface AlertDeps {
  readonly alerts: AlertStore;
  readonly insights: InsightStore;
  readonly liveEvents: LiveEvents;
  readonly clock: Clock;
}

/** Returns the evaluation of alerts as a kind of work; each is evaluated once a minute. */
export function alertWork(deps: AlertDeps, rows: LeasedWork): WorkKind {
  return { name: 'alerts', rows, run: (work) => evaluateAlert(deps, work), maxRunning: MAX_RUNNING };
}

/** Looks at an alert, and tells when it begins to fire and when that is over. @returns Undefined for one that is disabled. */
export async function evaluateAlert(
  { alerts, insights, liveEvents, clock }: AlertDeps,
  { id, projectId }: ClaimedWork,
): Promise<Again | undefined> {
  const alert = await alerts.find(projectId, id);
  if (!alert) return undefined;
  const nowMs = clock.now();
  const { metric, filter, windowMinutes } = alert;
  const figure = alert.enabled
    ? await insights.figure(projectId, {
        metric,
        filter: toSessionFilter(filter),
        from: new Date(nowMs - windowMinutes * MINUTE_MS).toISOString(),
        to: new Date(nowMs).toISOString(),
      })
    : undefined;
  const next = alertAfter(alert, figure, new Date(nowMs).toISOString());
  // Changed meanwhile, or looked at by another node.
  if (!(await alerts.saveLook(alert, next))) return { afterMs: 0 };
  if (next.state !== alert.state) {
    const { name, above, below, state } = next;
    const since = state === 'firing' ? next.since : alert.since;
    const data = { alertId: id, name, metric, value: next.lastValue, above, below, since };
    liveEvents.publish({ projectId, type: state === 'firing' ? 'alert.firing' : 'alert.resolved', data });
  }
  return alert.enabled ? { afterMs: MINUTE_MS } : undefined;
}

/**
 * Returns an alert after a look. It fires at the first look beyond its bound, and is over after {@link CALM_LOOKS} looks in
 * a row that are not.
 *
 * @param figure - Undefined for an alert that is disabled, which does not fire.
 */
export function alertAfter(alert: Alert, figure: Figure | undefined, now: string): Alert {
  const lastValue = figure ? (figure.value ?? (isCount(alert) ? 0 : null)) : null;
  const looked = { ...alert, lastValue };
  if (figure && lastValue !== null && isBeyondBound(alert, lastValue, figure.n)) {
    const since = alert.state === 'firing' ? alert.since : now;
    return { ...looked, state: 'firing', since, calmLooks: 0 };
  }
  if (alert.state === 'ok') return looked;
  const calmLooks = alert.calmLooks + 1;
  if (figure && calmLooks < CALM_LOOKS) return { ...looked, calmLooks };
  return { ...looked, state: 'ok', since: now, calmLooks: 0 };
}

function isBeyondBound(alert: Alert, value: number, n: number): boolean {
  const { above, below, minCount } = alert;
  if (above !== undefined) return n >= minCount && value > above;
  return below !== undefined && (n >= minCount || isCount(alert)) && value < below;
}

/** Tells whether the metric is a count, which is 0 when there are no sessions. */
function isCount({ metric }: Alert): boolean {
  return metric !== 'latencyP95' && SUM_METRICS[metric].kind === 'sum';
}
