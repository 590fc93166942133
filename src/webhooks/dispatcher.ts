import type { Timer } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import { type AfterwardsDeps, doAfterwards } from './afterwards.ts';
import { catchUp, TURN_LEASE_MS } from './outboxSteps.ts';
import { type SendDeps, sendEvent } from './sendEvent.ts';

/** What another node left, or learnt, is found within this time. */
const POLL_MS = 1_000;
/** Sessions that one node is at together; each may wait ten seconds for its receiver. */
const MAX_SESSIONS = 100;

export interface DispatcherDeps extends SendDeps, AfterwardsDeps {
  readonly makeId: MakeId;
}

/** Sends the webhooks of ended sessions, on any number of nodes together. */
export interface Dispatcher {
  /** Begins to look for what is due: now, every second, and when woken. */
  start(): void;
  /** A session has just ended, or something was told of it. */
  wake(): void;
  /** Takes nothing new, and waits for what is being sent. Idempotent. */
  close(): Promise<void>;
}

/**
 * Runs the gate: claims due sessions, brings each up to date, does what it asks for, until nothing is due. All that it
 * knows is in the outbox, so that after a crash any node goes on at the step that was reached.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { outbox, clock } = deps;
  const running = new Map<string, Promise<void>>();
  const askedAgain = new Set<string>();
  const aside = new Set<Promise<void>>();
  const closing = new AbortController();
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let timer: Timer | undefined;

  const look = async (): Promise<void> => {
    do {
      lookAgain = false;
      const free = MAX_SESSIONS - running.size;
      if (free <= 0) return;
      const nowMs = clock.now();
      const ids = await outbox.claimDue(new Date(nowMs), new Date(nowMs + TURN_LEASE_MS), free);
      for (const id of ids) startSession(id);
    } while (lookAgain && !closing.signal.aborted);
  };

  const wake = (): void => {
    if (closing.signal.aborted) return;
    lookAgain = true;
    looking ??= look()
      .catch((error: unknown) => deps.onError(error, 'due webhooks were not found'))
      .finally(() => {
        looking = undefined;
      });
  };

  const startSession = (id: string): void => {
    if (running.has(id)) {
      askedAgain.add(id);
      return;
    }
    const task = runSession(id)
      .catch((error: unknown) => deps.onError(error, 'a session’s webhooks are tried again later'))
      .finally(() => {
        const mayBeMore = running.size === MAX_SESSIONS;
        running.delete(id);
        if (closing.signal.aborted) return;
        if (askedAgain.delete(id)) startSession(id);
        else if (mayBeMore) wake();
      });
    running.set(id, task);
  };

  const runSession = async (id: string): Promise<void> => {
    while (!closing.signal.aborted) {
      const due = await outbox.advance(id, (now) => catchUp(now, clock.now(), deps.makeId));
      if (due?.afterwards) startAside(id);
      if (!due?.send || !(await sendEvent(deps, id, due.send, closing.signal))) return;
    }
  };

  /** Nothing that a model does holds up the events that are due. */
  const startAside = (id: string): void => {
    const task = doAfterwards(deps, id, closing.signal, wake)
      .catch((error: unknown) => deps.onError(error, 'what follows a session is tried again later'))
      .finally(() => {
        aside.delete(task);
        if (!closing.signal.aborted) startSession(id);
      });
    aside.add(task);
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
      closing.abort(new Error('the service stops'));
      timer?.cancel();
      while (looking || running.size + aside.size > 0) {
        await Promise.allSettled([looking, ...running.values(), ...aside]);
      }
    },
  };
}
