import type { AgentRelease } from '../agents/releases/release.ts';
import { linkAbort } from '../base/async/linkedAbort.ts';
import { CallwayError } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import type { SessionResults } from '../engine/history/sessionResults.ts';
import type { EndedSession } from '../engine/memory/rememberSession.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { CallReport } from './callReport.ts';
import { endTasks, TASKS_LEASE_MS } from './outbox.ts';
import type { OutboxSession, OutboxStore } from './outboxStore.ts';

/** The timeouts within which both tasks end before the lease does, after which their node counts as failed. */
const JUDGE_TIMEOUT_MS = 65_000;
const MEMORY_TIMEOUT_MS = TASKS_LEASE_MS - JUDGE_TIMEOUT_MS - 5_000;

export interface PostSessionTaskDeps {
  readonly outbox: OutboxStore;
  readonly releases: ReleaseStore;
  readonly clock: Clock;
  readonly callReport?: (projectId: string, callId: string) => Promise<CallReport | undefined>;
  /** Prices the session, where its end could not. */
  readonly updateCost: (instanceId: string) => Promise<void>;
  /** Evaluates and analyzes the session, as its agent asks. A failure costs only these. */
  readonly judge?: (session: EndedSession, signal: AbortSignal) => Promise<SessionResults>;
  /** Updates the customer's memory. */
  readonly remember?: (session: EndedSession, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Runs the tasks of an ended session that need a model: judging and memory, as its agent is configured.
 *
 * @param onJudged - The session is judged, and session.finalized may be sent.
 * @throws When the database is away, or `closing` was aborted; the tasks are restarted later.
 */
export async function runPostSessionTasks(
  deps: PostSessionTaskDeps,
  instanceId: string,
  closing: AbortSignal,
  onJudged: () => void,
): Promise<void> {
  const { outbox, clock } = deps;
  const session = await outbox.session(instanceId);
  if (!session) return;
  await deps.updateCost(instanceId);
  const release = await deps.releases.find(session.projectId, session.releaseId);
  const ended = release && (await endedSession(deps, instanceId, session, release));
  const { postEvaluationConfig, analysis, memoryEnabled } = ended?.release.agent ?? {};
  // A previous node may have stored the results before it failed.
  if (!session.factsAt['session.finalized']) {
    const judging = { run: deps.judge, name: 'judgement', timeoutMs: JUDGE_TIMEOUT_MS };
    const isJudged = postEvaluationConfig || analysis;
    const results = ended && isJudged ? await runTask(deps, ended, judging, closing) : undefined;
    await outbox.saveResults(instanceId, results ?? {}, new Date(clock.now()));
    onJudged();
  }
  const remembering = { run: deps.remember, name: 'memory update', timeoutMs: MEMORY_TIMEOUT_MS };
  if (ended && memoryEnabled) await runTask(deps, ended, remembering, closing);
  await outbox.advance(instanceId, (now) => endTasks(now, clock.now()));
}

async function endedSession(
  deps: PostSessionTaskDeps,
  instanceId: string,
  { projectId, callId, startedAt, messages, variables }: OutboxSession,
  release: AgentRelease,
): Promise<EndedSession> {
  const report = callId === null ? undefined : await deps.callReport?.(projectId, callId);
  const { direction, fromNumber, toNumber } = report?.call ?? {};
  const phoneNumber = direction === 'inbound' ? fromNumber : toNumber;
  return { projectId, instanceId, release, startedAt, messages, variables, phoneNumber };
}

interface Task<Result> {
  readonly run: ((session: EndedSession, signal: AbortSignal) => Promise<Result>) | undefined;
  readonly name: string;
  readonly timeoutMs: number;
}

async function runTask<Result>(
  { clock, onError }: PostSessionTaskDeps,
  ended: EndedSession,
  { run, name, timeoutMs }: Task<Result>,
  closing: AbortSignal,
): Promise<Result | undefined> {
  const { signal, abort, unlink } = linkAbort(closing);
  const timeout = new CallwayError('timeout', 'model_timeout', `the ${name} took too long`);
  const timer = clock.setTimer(() => abort(timeout), timeoutMs);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([run?.(ended, signal), aborted]);
  } catch (error) {
    closing.throwIfAborted();
    onError(error, `${name} of a session failed`);
    return undefined;
  } finally {
    timer.cancel();
    unlink();
  }
}
