import type { Timer } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import { catchUp, DUE_LEASE_MS } from './outbox.ts';
import type { ClaimedSession } from './outboxStore.ts';
import { type PostSessionTaskDeps, runPostSessionTasks } from './postSessionTasks.ts';
import { type SendDeps, sendEvent } from './sendEvent.ts';

/** Work of failed nodes, and facts recorded by other nodes, are found within this time. */
const POLL_MS = 1_000;
/** Per node; each session may wait ten seconds for its receiver. */
const MAX_SESSIONS = 100;
/** Per node; however slow a project's receiver, nine tenths of the node remain for others. */
const MAX_SESSIONS_PER_PROJECT = 10;

export interface DispatcherDeps extends SendDeps, PostSessionTaskDeps {
  readonly makeId: MakeId;
  /** How long a closing node still sends due events. The rest is then available to other nodes at once. */
  readonly finishMs: number;
}

/**
 * Sends the webhooks of ended sessions, on any number of nodes: claims due sessions and works on each until nothing is
 * due. All state is in the outbox, so that any node continues after a crash.
 */
export class WebhookDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #running = new Map<string, { readonly projectId: string; readonly task: Promise<void> }>();
  /** Running sessions that were claimed again meanwhile. */
  readonly #claimedAgain = new Set<string>();
  readonly #postSessionTasks = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  #timer: Timer | undefined;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Claims due sessions now, every second, and when woken. */
  start(): void {
    if (!this.#timer && !this.#isClosing) this.#tick();
  }

  /** A session has ended, or a fact was recorded. */
  wake(): void {
    if (this.#isClosing) return;
    this.#claimAgain = true;
    this.#claiming ??= this.#claimDue()
      .catch((error: unknown) => this.#deps.onError(error, 'due webhooks not claimed, retrying'))
      .finally(() => {
        this.#claiming = undefined;
        // Woken after the last claim.
        if (this.#claimAgain) this.wake();
      });
  }

  /** Sends what is due within `finishMs`, waits for deliveries in progress, and releases the rest. Idempotent. */
  async close(): Promise<void> {
    const { clock, finishMs } = this.#deps;
    this.#timer?.cancel();
    const stop = () => this.#closing.abort(new Error('the service stops'));
    if (finishMs > 0) {
      const limit = clock.setTimer(stop, finishMs);
      this.wake();
      await this.#idle();
      limit.cancel();
    }
    stop();
    await this.#idle();
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  #tick(): void {
    this.wake();
    this.#timer = this.#deps.clock.setTimer(() => this.#tick(), POLL_MS);
  }

  async #claimDue(): Promise<void> {
    const { outbox, clock } = this.#deps;
    do {
      this.#claimAgain = false;
      const sessions = MAX_SESSIONS - this.#running.size;
      if (sessions <= 0) return;
      const nowMs = clock.now();
      const claimed = await outbox.claimDue(new Date(nowMs), new Date(nowMs + DUE_LEASE_MS), {
        sessions,
        perProject: MAX_SESSIONS_PER_PROJECT,
        running: this.#runningByProject(),
      });
      for (const session of claimed) this.#start(session);
    } while (this.#claimAgain && !this.#isClosing);
  }

  #start({ instanceId, projectId }: ClaimedSession): void {
    if (this.#running.has(instanceId)) {
      this.#claimedAgain.add(instanceId);
      return;
    }
    const task = this.#run({ instanceId, projectId })
      .catch((error: unknown) => this.#deps.onError(error, 'webhooks of a session not sent, retrying later'))
      .finally(() => {
        const ofProject = this.#runningByProject().get(projectId) ?? 0;
        const wasFull = this.#running.size >= MAX_SESSIONS || ofProject >= MAX_SESSIONS_PER_PROJECT;
        this.#running.delete(instanceId);
        if (this.#isClosing) return;
        if (this.#claimedAgain.delete(instanceId)) this.#start({ instanceId, projectId });
        else if (wasFull) this.wake();
      });
    this.#running.set(instanceId, { projectId, task });
  }

  async #run(session: ClaimedSession): Promise<void> {
    const { outbox, clock, makeId } = this.#deps;
    const { instanceId } = session;
    while (!this.#isClosing) {
      const due = await outbox.advance(instanceId, (now) => catchUp(now, clock.now(), makeId));
      if (due?.tasks) this.#startTasks(session);
      if (!due?.send || !(await sendEvent(this.#deps, instanceId, due.send, this.#closing.signal))) return;
    }
    await outbox.release(instanceId, new Date(clock.now()));
  }

  /** Beside the deliveries, which do not wait for a model. */
  #startTasks(session: ClaimedSession): void {
    const { signal } = this.#closing;
    const task = runPostSessionTasks(this.#deps, session.instanceId, signal, () => this.wake())
      .catch((error: unknown) =>
        this.#deps.onError(error, 'post-session tasks interrupted, restarting later'),
      )
      .finally(() => {
        this.#postSessionTasks.delete(task);
        if (!this.#isClosing) this.#start(session);
      });
    this.#postSessionTasks.add(task);
  }

  #runningByProject(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { projectId } of this.#running.values())
      counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
    return counts;
  }

  async #idle(): Promise<void> {
    while (this.#claiming || this.#running.size + this.#postSessionTasks.size > 0) {
      const tasks = [...this.#running.values()].map(({ task }) => task);
      await Promise.allSettled([this.#claiming, ...tasks, ...this.#postSessionTasks]);
    }
  }
}
