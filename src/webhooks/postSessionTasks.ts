import type { AgentRelease } from '../agents/release.ts';
import { linkAbort } from '../base/async/linkedAbort.ts';
import { CallwayError } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { CallReport } from './callReport.ts';
import { endTasks, TASKS_LEASE_MS } from './outbox.ts';
import type { OutboxSession, OutboxStore } from './outboxStore.ts';

/** The timeout within which both tasks end before the lease does, after which their node counts as failed. */
const TASK_TIMEOUT_MS = TASKS_LEASE_MS / 2 - 5_000;

/** An ended session, for the models that evaluate and remember it. */
export interface EndedSession {
  readonly projectId: string;
  readonly instanceId: string;
  readonly release: AgentRelease;
  readonly messages: OutboxSession['messages'];
  readonly variables: OutboxSession['variables'];
  /** The customer's, for a session with a call. */
  readonly phoneNumber?: string;
}

export interface PostSessionTaskDeps {
  readonly outbox: OutboxStore;
  readonly releases: ReleaseStore;
  readonly clock: Clock;
  readonly callReport?: (projectId: string, callId: string) => Promise<CallReport | undefined>;
  /** Evaluates the session by its agent's criteria. A failure costs only the evaluation. */
  readonly evaluate?: (session: EndedSession, signal: AbortSignal) => Promise<unknown>;
  /** Updates the customer's memory. */
  readonly remember?: (session: EndedSession, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Runs the tasks of an ended session that need a model: evaluation and memory, as its agent is configured.
 *
 * @param onEvaluated - The evaluation is done, and session.finalized may be sent.
 * @throws When the database is away, or `closing` was aborted; the tasks are restarted later.
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
  const ended = release && (await endedSession(deps, instanceId, session, release));
  // A previous node may have stored the evaluation before it failed.
  if (!session.factsAt['session.finalized']) {
    const toEvaluate = ended?.release.agent.postEvaluationConfig ? ended : undefined;
    const evaluation = toEvaluate && (await runTask(deps, toEvaluate, deps.evaluate, 'evaluation', closing));
    await outbox.saveEvaluation(instanceId, evaluation, new Date(clock.now()));
    onEvaluated();
  }
  if (ended?.release.agent.memoryEnabled) await runTask(deps, ended, deps.remember, 'memory update', closing);
  await outbox.advance(instanceId, (now) => endTasks(now, clock.now()));
}

async function endedSession(
  deps: PostSessionTaskDeps,
  instanceId: string,
  { projectId, callId, messages, variables }: OutboxSession,
  release: AgentRelease,
): Promise<EndedSession> {
  const report = callId === null ? undefined : await deps.callReport?.(projectId, callId);
  const { direction, fromNumber, toNumber } = report?.call ?? {};
  const phoneNumber = direction === 'inbound' ? fromNumber : toNumber;
  return { projectId, instanceId, release, messages, variables, ...(phoneNumber ? { phoneNumber } : {}) };
}

async function runTask<Result>(
  { clock, onError }: PostSessionTaskDeps,
  ended: EndedSession,
  task: ((session: EndedSession, signal: AbortSignal) => Promise<Result>) | undefined,
  name: string,
  closing: AbortSignal,
): Promise<Result | undefined> {
  const { signal, abort, unlink } = linkAbort(closing);
  const timeout = new CallwayError('timeout', 'model_timeout', `the ${name} took too long`);
  const timer = clock.setTimer(() => abort(timeout), TASK_TIMEOUT_MS);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([task?.(ended, signal), aborted]);
  } catch (error) {
    closing.throwIfAborted();
    onError(error, `${name} of a session failed`);
    return undefined;
  } finally {
    timer.cancel();
    unlink();
  }
}
