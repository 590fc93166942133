import type { AgentRelease } from '../../agents/releases/release.ts';
import { repeat } from '../../base/async/repeat.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { Again, ClaimedWork } from '../../work/work.ts';
import { type Remark, remark } from '../assertions/remark.ts';
import type { Verdict } from '../assertions/verdict.ts';
import { LineRefusedError } from '../phone/line.ts';
import type { Played, PlayRequest } from '../play/runPlay.ts';
import { isAnswering } from '../rehearsal/callee.ts';
import { MAX_CONCURRENCY, type PlayStatus, type RunStatus } from './testRun.ts';
import type { ClaimedPlay, PlayedDefinition, PlayResult, TestRunStore } from './testRunStore.ts';

/** Plays of a project at once, over all nodes. */
const MAX_RUNNING_PLAYS = MAX_CONCURRENCY;
const WAIT_FOR_OTHERS_MS = 500;
/** The time after which a lane goes to the end of the queue, so that projects take turns. */
const TIME_SLICE_MS = 1_000;
const CANCEL_CHECK_MS = 1_000;
const MAX_PLAY_MS = 600_000;
/** Claims of a play whose nodes have died, after which it is given up. */
const MAX_ATTEMPTS = 3;
/** The most characters of what all assertions of a play have seen, and of its transcript. */
const MAX_SEEN_CHARACTERS = 40_000;
const LEAST_SEEN_CHARACTERS = 80;
const MOST_SEEN_CHARACTERS = 1_000;
const MAX_TRANSCRIPT_TURNS = 200;
/** The most characters of each text of a replayed turn. */
const MAX_REPLAYED_CHARACTERS = 1_000;

export interface TestLaneDeps {
  readonly testRuns: TestRunStore;
  readonly releases: { find(projectId: string, releaseId: string): Promise<AgentRelease | undefined> };
  readonly play: (play: PlayRequest, signal: AbortSignal) => Promise<Played>;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Publishes live events; undefined when nothing subscribes to them, as in unit tests. */
  readonly liveEvents?: LiveEvents | undefined;
  readonly onEnded: (runId: string, projectId: string, status: RunStatus) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Plays a run's next plays for a while.
 *
 * @param signal - Aborted when this node stops; another node repeats the play that it had begun.
 * @returns When to go on; undefined when nothing is left to play.
 */
export async function runTestLane(
  deps: TestLaneDeps,
  { id, projectId }: ClaimedWork,
  signal: AbortSignal,
): Promise<Again | undefined> {
  const { testRuns, clock } = deps;
  const lane = await testRuns.findLane(id);
  if (!lane) return undefined;
  const finish = async () => {
    const status = await testRuns.finish(lane.runId, isoNow(clock));
    if (status) deps.onEnded(lane.runId, projectId, status);
  };
  const untilMs = clock.monotonicMs() + TIME_SLICE_MS;
  do {
    signal.throwIfAborted();
    const claimed = await testRuns.claim(lane, MAX_RUNNING_PLAYS, isoNow(clock));
    if (claimed === 'wait') return { afterMs: WAIT_FOR_OTHERS_MS };
    if (claimed) await playClaimed(deps, claimed, signal);
    // Also where a node has died after its last play.
    await finish();
    if (claimed) continue;
    await testRuns.removeLane(id);
    return undefined;
  } while (clock.monotonicMs() < untilMs);
  return { afterMs: 0 };
}

async function playClaimed(deps: TestLaneDeps, claimed: ClaimedPlay, stopping: AbortSignal): Promise<void> {
  const { testRuns, clock, onError } = deps;
  const { run, attempt } = claimed;
  if (attempt > MAX_ATTEMPTS) {
    const error = 'It was begun several times, and its node failed each time';
    await testRuns.saveResult(claimed, 'error', { error, verdicts: [], latenciesMs: [], transcript: [] });
    return;
  }
  const playing = new AbortController();
  const timer = clock.setTimer(() => playing.abort(new PlayTimeoutError()), MAX_PLAY_MS);
  const stopWatching = repeat(
    clock,
    CANCEL_CHECK_MS,
    async () => {
      if (await testRuns.isCanceled(run.id)) playing.abort(new Error('the run was canceled'));
    },
    (error) => onError(error, 'test run not checked for its cancellation, retrying'),
  );
  try {
    const { status, result } = await attemptPlay(deps, claimed, AbortSignal.any([stopping, playing.signal]));
    if (stopping.aborted) await testRuns.release(claimed);
    else if (await testRuns.saveResult(claimed, status, result)) tellEnded(deps, claimed, status, result);
  } finally {
    timer.cancel();
    await stopWatching();
  }
}

function tellEnded(
  { liveEvents }: TestLaneDeps,
  { run: { id, projectId }, number }: ClaimedPlay,
  status: PlayStatus,
  { sessionId }: PlayResult,
): void {
  const play = { number, status, sessionId };
  const data = { testRunId: id, status: 'running', play };
  liveEvents?.publish({ type: 'test.updated', projectId, data });
}

async function attemptPlay(
  deps: TestLaneDeps,
  { run, seed, definition }: ClaimedPlay,
  signal: AbortSignal,
): Promise<{ readonly status: PlayStatus; readonly result: PlayResult }> {
  const { testRuns, releases, makeId, onError } = deps;
  const { projectId, releaseId } = run;
  const sessionId = makeId();
  const isCalled = definition.channel === 'phone' && (!definition.callee || isAnswering(definition.callee));
  try {
    const release = await releases.find(projectId, releaseId);
    if (!release) throw new Error(`release ${releaseId} does not exist`);
    const draft = run.version === 'draft';
    const wanted = { projectId, sessionId, release, releaseId, draft, seed, definition };
    const { session, recordingKey, ...outcome } = await deps.play(wanted, signal);
    if (session) await testRuns.saveSession(session);
    const result = resultOf(definition, outcome);
    return {
      status: outcome.verdicts.every(({ passed }) => passed) ? 'passed' : 'failed',
      result: {
        sessionId: session || isCalled ? sessionId : undefined,
        recordingKey,
        outcome: outcome.outcome,
        ...result,
      },
    };
  } catch (error) {
    if (!signal.aborted && !(error instanceof CallwayError)) onError(error, 'test case not played');
    const reason = signal.aborted ? signal.reason : error;
    return {
      status: 'error',
      result: {
        sessionId: isCalled && !(error instanceof LineRefusedError) ? sessionId : undefined,
        error: remarkOf(reason),
        verdicts: [],
        latenciesMs: [],
        transcript: [],
      },
    };
  }
}

class PlayTimeoutError extends CallwayError {
  constructor() {
    super('timeout', 'play_timeout', `It took longer than ${MAX_PLAY_MS / 60_000} minutes`);
  }
}

/** Returns what is stored of an outcome: the more texts there are, the shorter they are cut. */
function resultOf(
  { answers }: PlayedDefinition,
  { observation: { exchanges }, verdicts }: Omit<Played, 'session' | 'recordingKey'>,
): PlayResult {
  const said = verdicts.every(({ passed }) => passed) ? [] : exchanges.slice(0, MAX_TRANSCRIPT_TURNS);
  const mostSaid = shareOf(MAX_SEEN_CHARACTERS, said.length * 2);
  const mostSeen = shareOf(MAX_SEEN_CHARACTERS, verdicts.length);
  return {
    verdicts: verdicts.map((verdict) => cutVerdict(verdict, mostSeen)),
    latenciesMs: exchanges.flatMap(({ latencyMs }) => latencyMs ?? []),
    transcript: said.map(({ caller, agent }) => ({
      caller: caller === undefined ? undefined : cut(caller, mostSaid),
      agent: cut(agent, mostSaid),
    })),
    replay: answers
      ? answers.map(({ turn, said, answer }) => ({
          turn,
          said: cut(said, MAX_REPLAYED_CHARACTERS),
          before: cut(answer, MAX_REPLAYED_CHARACTERS),
          after: cut(
            exchanges.find((exchange) => exchange.turn === turn && exchange.caller !== '[hangs up]')?.agent ??
              '',
            MAX_REPLAYED_CHARACTERS,
          ),
        }))
      : undefined,
  };
}

/** The length of each of several texts that may have so many characters together. */
function shareOf(characters: number, texts: number): number {
  const share = Math.floor(characters / Math.max(1, texts));
  return Math.max(LEAST_SEEN_CHARACTERS, Math.min(MOST_SEEN_CHARACTERS, share));
}

function cutVerdict(verdict: Verdict, most: number): Verdict {
  const { seen, reason } = verdict;
  const text = typeof seen === 'string' ? seen : JSON.stringify(seen ?? null);
  const said = verdict.type === 'judge' || text.length <= most ? (seen ?? null) : cut(text, most);
  return { ...verdict, seen: said, reason: reason && cutRemark(reason, most) };
}

function cutRemark(said: Remark, most: number): Remark {
  if (typeof said === 'string') return cut(said, most);
  return { ...said, values: said.values.map((value) => cut(value, most)) };
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function remarkOf(error: unknown): Remark {
  if (error instanceof PlayTimeoutError) return remark('timeout', `${MAX_PLAY_MS / 60_000}`);
  if (error instanceof LineRefusedError) return remark('refused', error.how);
  if (error instanceof CallwayError) return error.message;
  const isCanceled = error instanceof Error && error.message === 'the run was canceled';
  return remark(isCanceled ? 'canceled' : 'internal_error');
}

function isoNow(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
