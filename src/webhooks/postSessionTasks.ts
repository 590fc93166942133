import type { AgentRelease } from '../agents/release.ts';
import type { Clock } from '../base/clock.ts';
import { CallwayError } from '../base/errors.ts';
import { linkAbort } from '../base/linkedAbort.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { CallReport } from './eventBody.ts';
import { endTasks, TASKS_LEASE_MS } from './outbox.ts';
import type { OutboxSession, OutboxStore } from './outboxStore.ts';

/** Long enough for any model, and over before its node counts as lost: half for each of the two. */
const LONGEST_MODEL_WORK_MS = TASKS_LEASE_MS / 2 - 5_000;

/** An ended session with all that can be judged of it. */
export interface FinishedSession {
  readonly projectId: string;
  readonly release: AgentRelease;
  readonly messages: OutboxSession['messages'];
  readonly variables: OutboxSession['variables'];
  /** The customer's, where there was a call. */
  readonly phoneNumber?: string;
}

export interface PostSessionTaskDeps {
  readonly outbox: OutboxStore;
  readonly releases: Pick<ReleaseStore, 'find'>;
  readonly clock: Clock;
  readonly callReport?: (projectId: string, callId: string) => Promise<CallReport | undefined>;
  /** Judges an ended session by its agent's criteria; what it throws costs the evaluation only. */
  readonly evaluate?: (session: FinishedSession, signal: AbortSignal) => Promise<unknown>;
  /** Takes down what was learnt of the customer. */
  readonly remember?: (session: FinishedSession, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Does what needs a model once a session has ended: evaluates and remembers, each as far as the agent wants it.
 *
 * @param onEvaluated - The evaluation is over, and session.finalized may go.
 * @throws When the database is away, or `closing` was aborted; it is begun anew later.
 */
export async function runPostSessionTasks(
  deps: PostSessionTaskDeps,
  instanceId: string,
  closing: AbortSignal,
  onEvaluated: () => void,
): Promise<void> {
  const { outbox, clock } = deps;
  const session = await outbox.session(instanceId);
  if (!session) return;
  const release = await deps.releases.find(session.projectId, session.releaseId);
  const finished = release && (await finishedSession(deps, session, release));
  // Evaluated already, should the node before have died in between.
  if (!session.factsAt['session.finalized']) {
    const wanted = finished?.release.agent.postEvaluationConfig ? finished : undefined;
    const evaluation = wanted && (await modelWork(deps, wanted, deps.evaluate, 'evaluation', closing));
    await outbox.saveEvaluation(instanceId, evaluation, new Date(clock.now()));
    onEvaluated();
  }
  if (finished?.release.agent.memoryEnabled) {
    await modelWork(deps, finished, deps.remember, 'remembering', closing);
  }
  await outbox.advance(instanceId, (now) => endTasks(now, clock.now()));
}

async function finishedSession(
  deps: PostSessionTaskDeps,
  { projectId, callId, messages, variables }: OutboxSession,
  release: AgentRelease,
): Promise<FinishedSession> {
  const report = callId === null ? undefined : await deps.callReport?.(projectId, callId);
  const { direction, fromNumber, toNumber } = report?.call ?? {};
  const phoneNumber = direction === 'inbound' ? fromNumber : toNumber;
  return { projectId, release, messages, variables, ...(phoneNumber ? { phoneNumber } : {}) };
}

async function modelWork<Result>(
  { clock, onError }: PostSessionTaskDeps,
  finished: FinishedSession,
  work: ((session: FinishedSession, signal: AbortSignal) => Promise<Result>) | undefined,
  what: string,
  closing: AbortSignal,
): Promise<Result | undefined> {
  const late = new AbortController();
  const timer = clock.setTimer(
    () => late.abort(new CallwayError('timeout', 'model_timeout', `the ${what} took too long`)),
    LONGEST_MODEL_WORK_MS,
  );
  const { signal, unlink } = linkAbort(late.signal, closing);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([work?.(finished, signal), aborted]);
  } catch (error) {
    closing.throwIfAborted();
    onError(error, `the ${what} of a session failed`);
    return undefined;
  } finally {
    timer.cancel();
    unlink();
  }
}
