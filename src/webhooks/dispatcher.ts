import type { MakeId } from '../base/values/ids.ts';
import type { ClaimedWork } from '../work/work.ts';
import { Worker } from '../work/worker.ts';
import { SHARES } from './delivery.ts';
import { catchUp } from './outbox.ts';
import { type PostSessionTaskDeps, runPostSessionTasks } from './postSessionTasks.ts';
import { type SendDeps, sendEvent } from './sendEvent.ts';

export interface DispatcherDeps extends SendDeps, PostSessionTaskDeps {
  readonly makeId: MakeId;
  /** The time for which a closing node still sends due events. The rest is then available to other nodes at once. */
  readonly finishMs: number;
}

/** Sends the webhooks of ended sessions: works on each claimed session until nothing is due. */
export function createWebhookDispatcher(deps: DispatcherDeps): Worker {
  const { outbox, clock, makeId, onError } = deps;
  const running = new Set<Promise<void>>();
  /** Starts the post-session tasks. They run beside the deliveries, which do not wait for a model. */
  const startTasks = (session: ClaimedWork, signal: AbortSignal) => {
    const task = runPostSessionTasks(deps, session.id, signal, () => worker.wake())
      .catch((error: unknown) => onError(error, 'post-session tasks interrupted, restarting later'))
      .finally(() => {
        running.delete(task);
        // On a node that stops, this releases what the tasks' end has claimed again.
        worker.run(session);
      });
    running.add(task);
  };
  const run = async (session: ClaimedWork, signal: AbortSignal) => {
    const { id: instanceId } = session;
    while (!signal.aborted) {
      const due = await outbox.advance(instanceId, (now) => catchUp(now, clock.now(), makeId));
      if (due?.tasks) startTasks(session, signal);
      if (!due?.send || !(await sendEvent(deps, instanceId, due.send, signal))) return undefined;
    }
    await outbox.release(instanceId, new Date(clock.now()));
    return undefined;
  };
  const beside = () => [...running];
  const worker = new Worker({ ...SHARES, ...deps, name: 'webhooks of a session', rows: outbox, run, beside });
  return worker;
}
