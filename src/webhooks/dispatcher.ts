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
export class WebhookDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #worker: Worker;
  readonly #postSessionTasks = new Set<Promise<void>>();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      ...SHARES,
      ...deps,
      name: 'webhooks of a session',
      rows: deps.outbox,
      run: (session, signal) => this.#run(session, signal),
      beside: () => [...this.#postSessionTasks],
    });
  }

  /** Claims due sessions now, every second, and when woken. */
  start(): void {
    this.#worker.start();
  }

  /** A session has ended, or a fact was recorded. */
  wake(): void {
    this.#worker.wake();
  }

  /** Sends what is due within `finishMs`, waits for deliveries in progress, and releases the rest. Idempotent. */
  close(): Promise<void> {
    return this.#worker.close();
  }

  async #run(session: ClaimedWork, signal: AbortSignal): Promise<undefined> {
    const { outbox, clock, makeId } = this.#deps;
    const { id: instanceId } = session;
    while (!signal.aborted) {
      const due = await outbox.advance(instanceId, (now) => catchUp(now, clock.now(), makeId));
      if (due?.tasks) this.#startTasks(session, signal);
      if (!due?.send || !(await sendEvent(this.#deps, instanceId, due.send, signal))) return undefined;
    }
    await outbox.release(instanceId, new Date(clock.now()));
    return undefined;
  }

  /** Starts the post-session tasks. They run beside the deliveries, which do not wait for a model. */
  #startTasks(session: ClaimedWork, signal: AbortSignal): void {
    const task = runPostSessionTasks(this.#deps, session.id, signal, () => this.wake())
      .catch((error: unknown) =>
        this.#deps.onError(error, 'post-session tasks interrupted, restarting later'),
      )
      .finally(() => {
        this.#postSessionTasks.delete(task);
        // On a node that stops, this releases what the tasks' end has claimed again.
        this.#worker.run(session);
      });
    this.#postSessionTasks.add(task);
  }
}
