import type { ReleaseStores } from '../../agents/releases/publish.ts';
import type { FinalRolloutStatus, Rollout, RolloutDecision } from '../../agents/releases/rollout.ts';
import { finishRollout } from '../../agents/releases/rollouts.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { LiveEventType } from '../../events/liveEvent.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { Again, ClaimedWork, LeasedWork } from '../../work/work.ts';
import type { WorkKind } from '../../work/worker.ts';
import type { InsightStore } from '../insights/insightStore.ts';
import { type Judgement, judgeArms } from './arms.ts';

/** A rollout is judged at least once a minute. */
const JUDGED_EVERY_MS = 20_000;
/** Rollouts that a node judges at once. */
const MAX_RUNNING = 2;

interface JudgeDeps {
  readonly stores: ReleaseStores;
  readonly transaction: <Result>(work: (stores: ReleaseStores) => Promise<Result>) => Promise<Result>;
  readonly insights: InsightStore;
  readonly liveEvents: LiveEvents;
  readonly clock: Clock;
}

type RolloutEventType = Extract<LiveEventType, `rollout.${string}`>;

/** The judging of rollouts, as a kind of work. */
export function rolloutWork(deps: JudgeDeps, rows: LeasedWork): WorkKind {
  return { name: 'rollouts', rows, run: (work) => judgeRollout(deps, work), maxRunning: MAX_RUNNING };
}

/** Judges a running rollout and publishes its change. @returns When to judge it again; undefined at its end. */
export async function judgeRollout(deps: JudgeDeps, { id }: ClaimedWork): Promise<Again | undefined> {
  const { rollouts } = deps.stores;
  const before = await rollouts.findWork(id);
  if (!before) return undefined;
  if (before.told === null) await tell(deps, before.rollout, 'rollout.started');
  if (before.rollout.status === 'running') await decide(deps, before.rollout);
  const after = await rollouts.findWork(id);
  if (!after) return undefined;
  const { rollout, told } = after;
  const next = toldOf(rollout);
  if (next.told !== told) await tell(deps, rollout, next.type);
  return rollout.status === 'running' ? { afterMs: JUDGED_EVERY_MS } : undefined;
}

/** Decides what follows from the figures. A guard that fires comes before the number of sessions. */
function decisionOf(
  { onBad, onGood, decideAfter, decision }: Rollout,
  { guards, sessions }: Judgement,
):
  | { readonly reason: 'guard' | 'enough_sessions'; readonly status: FinalRolloutStatus | 'running' }
  | undefined {
  if (guards.some(({ hasFired }) => hasFired)) {
    if (onBad === 'rollback') return { reason: 'guard', status: 'rolled_back' };
    return decision?.reason === 'guard' ? undefined : { reason: 'guard', status: 'running' };
  }
  if (sessions < decideAfter.sessions || decision) return undefined;
  return { reason: 'enough_sessions', status: onGood === 'promote' ? 'promoted' : 'running' };
}

async function decide({ stores, transaction, insights, clock }: JudgeDeps, rollout: Rollout): Promise<void> {
  const judged = judgeArms(rollout, await insights.arms(rollout.id));
  const decided = decisionOf(rollout, judged);
  if (!decided) return;
  const { status, reason } = decided;
  const shown = judged.guards.filter(({ hasFired }) => hasFired || reason !== 'guard');
  const decision: RolloutDecision = {
    at: new Date(clock.now()).toISOString(),
    reason,
    figures: shown.map((guard) => guard.figures),
  };
  if (status === 'running') await stores.rollouts.noteDecision(rollout.id, decision);
  else await transaction((own) => finishRollout(own, rollout, status, decision));
}

/** Returns the event that announces a rollout's state, and the key by which it is announced once. */
function toldOf({ status, decision }: Rollout): { readonly type: RolloutEventType; readonly told: string } {
  if (status !== 'running') return { type: `rollout.${status}`, told: `rollout.${status}` };
  if (decision) return { type: 'rollout.alert', told: `rollout.alert ${decision.reason}` };
  return { type: 'rollout.started', told: 'rollout.started' };
}

async function tell(
  { stores, liveEvents }: JudgeDeps,
  rollout: Rollout,
  type: RolloutEventType,
): Promise<void> {
  const { id, projectId, release, decision } = rollout;
  const isStart = type === 'rollout.started';
  const verdict = isStart ? null : verdictOf(decision?.reason);
  const figures = isStart ? [] : (decision?.figures ?? []);
  liveEvents.publish({ type, projectId, data: { rolloutId: id, release, verdict, figures } });
  await stores.rollouts.noteTold(id, isStart ? type : toldOf(rollout).told);
}

function verdictOf(reason: RolloutDecision['reason'] | undefined): 'good' | 'bad' | null {
  if (reason === 'guard') return 'bad';
  return reason === 'enough_sessions' ? 'good' : null;
}
