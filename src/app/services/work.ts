import type { Clock } from '../../base/values/clock.ts';
import type { JobQueues } from '../../infra/redis/queues/jobQueues.ts';
import { announceOver, listenOver } from '../../infra/redis/queues/wakeups.ts';
import type { WakeWork } from '../../work/work.ts';
import { Worker, type WorkKind } from '../../work/worker.ts';
import type { Lifecycle } from '../lifecycle.ts';

export interface WorkParts {
  readonly jobs: JobQueues;
  readonly clock: Clock;
  readonly lifecycle: Lifecycle;
  readonly onError: (error: unknown, what: string) => void;
}

/** Returns how a kind of work is announced to the nodes that run it. */
export function announcer({ jobs, onError }: Pick<WorkParts, 'jobs' | 'onError'>, kind: string): WakeWork {
  const announce = announceOver(jobs, kind);
  return (workId) =>
    announce(workId).catch((error: unknown) => onError(error, `${kind} not announced, its poll finds it`));
}

/** Runs a kind of work on this node, until it stops. */
export function startWork({ jobs, clock, lifecycle, onError }: WorkParts, kind: WorkKind): void {
  const worker = new Worker({ ...kind, clock, onError });
  lifecycle.onClose(() => worker.close());
  listenOver(jobs, kind.name, () => worker.wake(1));
  worker.start();
}
