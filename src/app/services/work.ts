import type { Clock } from '../../base/values/clock.ts';
import type { Wakeups } from '../../infra/redis/wakeups.ts';
import type { WakeWork } from '../../work/work.ts';
import { Worker, type WorkKind } from '../../work/worker.ts';
import type { Lifecycle } from '../lifecycle.ts';

export interface WorkParts {
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly lifecycle: Lifecycle;
  readonly onError: (error: unknown, what: string) => void;
}

/** Returns how a kind of work is announced to the nodes that run it. */
export function announcer(
  { wakeups, onError }: Pick<WorkParts, 'wakeups' | 'onError'>,
  kind: string,
): WakeWork {
  return (workId) =>
    wakeups
      .announce(kind, workId)
      .catch((error: unknown) => onError(error, `${kind} not announced, its poll finds it`));
}

/** Runs a kind of work on this node, until it stops. */
export function startWork({ wakeups, clock, lifecycle, onError }: WorkParts, kind: WorkKind): Worker {
  const worker = new Worker({ ...kind, clock, onError });
  lifecycle.onClose(() => worker.close());
  wakeups.listen(kind.name, () => worker.wake(1));
  worker.start();
  return worker;
}
