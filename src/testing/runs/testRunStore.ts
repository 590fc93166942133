import type { TestCase } from '../../agents/testSuites/testCase.ts';
import type { Page, PageOf } from '../../base/values/page.ts';
import type { Channel } from '../../engine/session/session.ts';
import type { Remark } from '../assertions/remark.ts';
import type { Verdict } from '../assertions/verdict.ts';
import type { PlayedSession } from '../play/testSessions.ts';
import type { Callee, RehearsalOutcome } from '../rehearsal/callee.ts';
import type { ListedRun, PlayStatus, ReplayedTurn, RunStatus } from './testRun.ts';

export interface PlayResult {
  readonly sessionId?: string;
  /** The key of the call's recording; undefined for a chat. */
  readonly recordingKey?: string;
  /** The reason for which it could not be played. */
  readonly error?: Remark;
  readonly verdicts: readonly Verdict[];
  /** The latencies of the agent's answers. */
  readonly latenciesMs: readonly number[];
  /** The transcript for the report, cut; empty when the play passed. */
  readonly transcript: readonly { readonly caller?: string; readonly agent: string }[];
  readonly replay?: readonly ReplayedTurn[];
  readonly outcome?: RehearsalOutcome | undefined;
}

export interface StoredPlay {
  readonly position: number;
  readonly index: number;
  readonly seed: number;
  readonly status: PlayStatus;
  readonly result: PlayResult | null;
}

export interface StoredRun extends Omit<ListedRun, 'summary' | 'release'> {
  /** The number of the release; null for the working copy. */
  readonly release: number | null;
  readonly baselineRunId: string | null;
  /** The id of the agent's release, which is pinned when the run is created. */
  readonly releaseId: string;
  /** The id of the session that the run replays; null for other runs. */
  readonly replaysSessionId: string | null;
}

/** A case as a run plays it; a copy, so that edits do not change the run. */
export interface RunCase {
  readonly testCaseId: string | null;
  /** The contact of a campaign that is rehearsed. */
  readonly contactId?: string | null;
  readonly name: string;
  readonly definition: PlayedDefinition;
}

export type PlayedDefinition = Pick<
  TestCase,
  'channel' | 'persona' | 'variables' | 'turns' | 'toolMocks' | 'allowRealTools' | 'phone' | 'assertions'
> & {
  /** The answers of the session that is replayed, by turn. */
  readonly answers?: readonly { readonly turn: number; readonly said: string; readonly answer: string }[];
  /** What happens to a contact's call, in place of turns or a persona. */
  readonly callee?: Callee;
};

/** A play that a lane has claimed. */
export interface ClaimedPlay {
  readonly run: StoredRun;
  readonly number: number;
  readonly seed: number;
  /** The number of claims; only the newest claim may store a result. */
  readonly attempt: number;
  readonly definition: PlayedDefinition;
}

/** A run with its plays. */
export interface RunDetail {
  readonly run: StoredRun;
  readonly cases: readonly Pick<RunCase, 'testCaseId' | 'contactId' | 'name'>[];
  readonly plays: readonly StoredPlay[];
}

export interface NewRun {
  readonly run: StoredRun;
  readonly cases: readonly RunCase[];
  readonly plays: readonly Pick<StoredPlay, 'position' | 'index' | 'seed'>[];
}

export interface TestRunStore {
  /**
   * The whole cases of a suite in its order.
   *
   * @returns The suite; undefined when it is unknown. Its cases are undefined when they are larger than `maxBytes`.
   */
  casesOf(
    projectId: string,
    testSuiteId: string,
    maxBytes: number,
  ): Promise<{ name: string; cases: TestCase[] | undefined } | undefined>;
  insert(run: NewRun): Promise<void>;
  /** Removes the project's oldest ended runs beyond this number. */
  trim(projectId: string, keep: number): Promise<void>;
  find(
    projectId: string,
    runId: string,
    options?: { readonly withTranscripts?: boolean },
  ): Promise<RunDetail | undefined>;
  /** Newest first. */
  list(projectId: string, filter: RunFilter, page: Page): Promise<PageOf<ListedRun>>;
  findLane(laneId: string): Promise<TestLane | undefined>;
  /** Removes a lane for which nothing is left to play. */
  removeLane(laneId: string): Promise<void>;
  /**
   * Claims the next play of a run for a lane: the one that the lane has begun before, or a queued one.
   *
   * @param maxRunning - Plays of the project at once; beyond it nothing is claimed.
   * @returns `wait` where the project plays enough; undefined where nothing is left.
   */
  claim(lane: TestLane, maxRunning: number, now: string): Promise<ClaimedPlay | 'wait' | undefined>;
  /** @returns False where another claim has replaced this one, or the run was canceled. */
  saveResult(play: ClaimedPlay, status: PlayStatus, result: PlayResult): Promise<boolean>;
  /** Gives a play back that was not finished. */
  release(play: ClaimedPlay): Promise<void>;
  /** Ends a run whose plays have all ended. @returns Its status where this call ended it. */
  finish(runId: string, now: string): Promise<RunStatus | undefined>;
  /** Cancels what is queued. @returns Whether the run was not ended before. */
  cancel(projectId: string, runId: string, now: string): Promise<boolean>;
  isCanceled(runId: string): Promise<boolean>;
  /** Stores the session of a test as history. */
  saveSession(played: PlayedSession): Promise<void>;
}

export interface RunFilter {
  readonly testSuiteId?: string;
  readonly status?: RunStatus;
}

/** Plays one play of its run after the other. */
export interface TestLane {
  readonly id: string;
  readonly runId: string;
  /** The channel of its plays. */
  readonly channel: Channel;
}
