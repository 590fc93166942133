import type { Timer } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import { catchUp, TURN_LEASE_MS } from './outbox.ts';
import type { ClaimedSession } from './outboxStore.ts';
import { type PostSessionTaskDeps, runPostSessionTasks } from './postSessionTasks.ts';
import { type SendDeps, sendEvent } from './sendEvent.ts';

/** What another node left, or learnt, is found within this time. */
const POLL_MS = 1_000;
/** Sessions that one node is at together; each may wait ten seconds for its receiver. */
const MAX_SESSIONS = 100;
/** Of one project: its one receiver, however slow, leaves nine tenths of a node to the others. */
const MAX_SESSIONS_PER_PROJECT = 10;

export interface DispatcherDeps extends SendDeps, PostSessionTaskDeps {
  readonly makeId: MakeId;
  /** How long a node that stops still sends what is due; what is left then is any other node's at once. */
  readonly finishMs: number;
}

/** Sends the webhooks of ended sessions, on any number of nodes together. */
export interface WebhookDispatcher {
  /** Begins to look for what is due: now, every second, and when woken. */
  start(): void;
  /** A session has just ended, or something was told of it. */
  wake(): void;
  /**
   * Sends what is due already, in `finishMs`, waits for what is being sent, and leaves the rest to other nodes.
   * Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Runs the gate: claims due sessions, brings each up to date, does what it asks for, until nothing is due. All that it
 * knows is in the outbox, so that after a crash any node goes on at the step that was reached.
 */
export function createWebhookDispatcher(deps: DispatcherDeps): WebhookDispatcher {
  const { outbox, clock } = deps;
  const running = new Map<string, { readonly projectId: string; readonly task: Promise<void> }>();
  const askedAgain = new Set<string>();
  const aside = new Set<Promise<void>>();
  const closing = new AbortController();
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let timer: Timer | undefined;

  const runningByProject = (): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const { projectId } of running.values()) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
    return counts;
  };

  const look = async (): Promise<void> => {
    do {
      lookAgain = false;
      const sessions = MAX_SESSIONS - running.size;
      if (sessions <= 0) return;
      const nowMs = clock.now();
      const claimed = await outbox.claimDue(new Date(nowMs), new Date(nowMs + TURN_LEASE_MS), {
        sessions,
        perProject: MAX_SESSIONS_PER_PROJECT,
        running: runningByProject(),
      });
      for (const session of claimed) startSession(session);
    } while (lookAgain && !closing.signal.aborted);
  };

  const wake = (): void => {
    if (closing.signal.aborted) return;
    lookAgain = true;
    looking ??= look()
      .catch((error: unknown) => deps.onError(error, 'due webhooks were not found'))
      .finally(() => {
        looking = undefined;
        // Whoever woke it after its last look found it busy still.
        if (lookAgain) wake();
      });
  };

  const startSession = ({ instanceId: id, projectId }: ClaimedSession): void => {
    if (running.has(id)) {
      askedAgain.add(id);
      return;
    }
    const task = runSession({ instanceId: id, projectId })
      .catch((error: unknown) => deps.onError(error, 'a session’s webhooks are tried again later'))
      .finally(() => {
        const ofProject = runningByProject().get(projectId) ?? 0;
        const mayBeMore = running.size >= MAX_SESSIONS || ofProject >= MAX_SESSIONS_PER_PROJECT;
        running.delete(id);
        if (closing.signal.aborted) return;
        if (askedAgain.delete(id)) startSession({ instanceId: id, projectId });
        else if (mayBeMore) wake();
      });
    running.set(id, { projectId, task });
  };

  const runSession = async (session: ClaimedSession): Promise<void> => {
    const { instanceId: id } = session;
    while (!closing.signal.aborted) {
      const due = await outbox.advance(id, (now) => catchUp(now, clock.now(), deps.makeId));
      if (due?.tasks) startAside(session);
      if (!due?.send || !(await sendEvent(deps, id, due.send, closing.signal))) return;
    }
    await outbox.release(id, new Date(clock.now()));
  };

  /** Nothing that a model does holds up the events that are due. */
  const startAside = (session: ClaimedSession): void => {
    const task = runPostSessionTasks(deps, session.instanceId, closing.signal, wake)
      .catch((error: unknown) => deps.onError(error, 'what follows a session is tried again later'))
      .finally(() => {
        aside.delete(task);
        if (!closing.signal.aborted) startSession(session);
      });
    aside.add(task);
  };

  const quiet = async (): Promise<void> => {
    while (looking || running.size + aside.size > 0) {
      await Promise.allSettled([looking, ...[...running.values()].map(({ task }) => task), ...aside]);
    }
  };

  const tick = (): void => {
    wake();
    timer = clock.setTimer(tick, POLL_MS);
  };

  return {
    start: () => {
      if (!timer && !closing.signal.aborted) tick();
    },
    wake,
    async close() {
      timer?.cancel();
      const stop = () => closing.abort(new Error('the service stops'));
      if (deps.finishMs > 0) {
        const limit = clock.setTimer(stop, deps.finishMs);
        wake();
        await quiet();
        limit.cancel();
      }
      stop();
      await quiet();
    },
  };
}
