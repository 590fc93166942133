import type { WakeWork } from '../../work/work.ts';
import { Worker, type WorkKind } from '../../work/worker.ts';
import type { NodeContext } from '../node/node.ts';

/** Returns how a kind of work is announced to the nodes that run it. */
export function announcer(node: NodeContext, kind: string, onError = node.onError): WakeWork {
  return (workId) =>
    node.wakeups
      .announce(kind, workId)
      .catch((error: unknown) => onError(error, `${kind} not announced, its poll finds it`));
}

/** Runs a kind of work on this node, until it stops. */
export function startWork(node: NodeContext, kind: WorkKind, onError = node.onError): Worker {
  const { wakeups, clock, lifecycle } = node;
  const worker = new Worker({ ...kind, announce: announcer(node, kind.name, onError), clock, onError });
  lifecycle.onClose(() => worker.close());
  wakeups.listen(kind.name, () => worker.wake(1));
  worker.start();
  return worker;
}
