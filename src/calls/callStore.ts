import type { Page, PageOf } from '../base/values/page.ts';
import type { ReleaseName } from '../base/values/releaseName.ts';
import type { PreparedSession } from '../engine/conversationEngine.ts';
import type { HistoryEvent, Session } from '../engine/session/session.ts';
import type { MediaSamples } from '../media/mediaSamples.ts';
import type { RecordingPeaks } from '../media/recording/peaks.ts';
import type {
  AnsweringMachine,
  Call,
  CallChange,
  CallDirection,
  CallStatus,
  RecordingResult,
} from './call.ts';

export interface CallFilter {
  readonly direction?: CallDirection;
  /** Lists calls with one of these statuses. */
  readonly status?: readonly CallStatus[];
  readonly sessionId?: string;
  /** True for calls in progress, false for ended calls. */
  readonly isLive?: boolean;
  /** The earliest time of creation, ISO 8601. `to` is exclusive. */
  readonly from?: string;
  readonly to?: string;
  /** Lists calls with this part of either number. */
  readonly number?: string;
  readonly externalId?: string;
  readonly campaignId?: string;
  /** What the analysis of the session says. */
  readonly disposition?: string;
  readonly success?: boolean;
  /** Whether the call has violations. */
  readonly violations?: boolean;
  readonly release?: ReleaseName;
  /** Values by top-level key of the metadata: a text, or a number, boolean or null that is written so. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The text to find in the words of the session. */
  readonly q?: string;
  /** True to list the calls of tests too. Default: false. */
  readonly includeTests?: boolean;
}

/** A sum in one currency. */
export interface CostSum {
  readonly total: number;
  readonly currency: string;
  /** The sums in other currencies; undefined where there are none. */
  readonly others?: CostSum[] | undefined;
}

export interface CallStore {
  /**
   * Inserts a call and its session in one transaction.
   *
   * @throws {CallwayError} 409 `number_already_queued` when the project has another live outbound call to the number.
   */
  insert(call: Call, session: Session, started: HistoryEvent): Promise<void>;
  find(projectId: string, id: string): Promise<Call | undefined>;
  list(projectId: string, filter: CallFilter, page: Page): Promise<PageOf<Call>>;
  /** The names that the metadata and results of calls have, sorted; so many of each at most. */
  resultNames(projectId: string, filter: CallFilter, limit: number): Promise<ResultNames>;
  /** Returns the results of the calls' sessions by instance id. */
  results(projectId: string, instanceIds: readonly string[]): Promise<Map<string, CallResults>>;
  /** What the sessions of calls have cost, by the id of the call. */
  costs(projectId: string, ids: readonly string[]): Promise<ReadonlyMap<string, CostSum>>;
  /** Looks for calls of any project. @returns The ids that belong to a call. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Claims a queued call for a node. @returns Undefined when the call is no longer queued. */
  claim(id: string, nodeId: string): Promise<Call | undefined>;
  /**
   * Queues a scheduled call, with its disclosures and on its release.
   *
   * @param session - Its session on that release; undefined leaves the stored one as it is.
   *
   * @returns The queued call; undefined when it is scheduled no longer.
   * @throws {CallwayError} 409 `number_already_queued` when the project has another live outbound call to the number.
   */
  queueScheduled(call: Call, at: string, session?: PreparedSession): Promise<Call | undefined>;
  /**
   * Schedules a waiting call for a later time.
   *
   * @param nodeId - The node that has claimed it, whose claim ends; null for none.
   */
  postpone(id: string, nodeId: string | null, notBefore: string): Promise<void>;
  /** Cancels the scheduled callbacks of a number. The sweeper settles them. @returns The canceled calls. */
  replaceCallbacks(projectId: string, toNumber: string, at: string): Promise<Call[]>;
  /** Callbacks to the number that were scheduled since then, replaced ones included. */
  countCallbacks(projectId: string, toNumber: string, since: string): Promise<number>;
  /**
   * Puts a claimed call that was not dialed yet back into the queue.
   *
   * @returns True when a hang-up was requested while the call was claimed.
   */
  releaseClaim(id: string, nodeId: string): Promise<boolean>;
  /**
   * Changes a live call; a call that has ended is left unchanged.
   *
   * @param nodeId - Change it only while this node runs it; null for any node.
   * @returns The changed call; undefined when nothing was changed.
   */
  update(
    id: string,
    nodeId: string | null,
    change: CallChange,
    event?: HistoryEvent,
  ): Promise<Call | undefined>;
  /** Stores who has answered, also of a call that has ended meanwhile. */
  setAnsweringMachine(id: string, answeringMachine: AnsweringMachine): Promise<void>;
  /** Asks the node that runs the call to hang up; a call that no node has claimed is canceled at once. */
  requestHangup(projectId: string, id: string, at: string): Promise<Call | undefined>;
  /**
   * Sets the final state of the recording, before or after the call's end. The first one counts. Where the call was removed
   * meanwhile, the recording's file is to be removed too.
   *
   * @returns The changed call; undefined when nothing was changed.
   */
  completeRecording(id: string, recording: RecordingResult): Promise<Call | undefined>;
  /** Marks the post-call work as done. */
  markSettled(id: string): Promise<void>;
  /** Calls that no node has claimed, oldest first. @param after - The last id of the page before. */
  listQueued(limit: number, after?: string): Promise<QueuedCall[]>;
  /**
   * Calls without a live node: their node's last heartbeat is before `before`, or they ended before then and are still
   * not settled, except while their recording is being stored. The oldest first.
   *
   * @param after - The last id of the page before.
   */
  listOrphans(before: Date, limit: number, after?: string): Promise<OrphanedCall[]>;
  /** Unsettled calls of one node; at its start, what its previous process left. */
  listUnsettledOn(nodeId: string): Promise<OrphanedCall[]>;
  recordHeartbeat(nodeId: string, at: Date): Promise<void>;
  /** Returns the audio quality of an ended call over time; undefined when it is not known. */
  mediaSamples(projectId: string, id: string): Promise<MediaSamples | undefined>;
  /** Returns the peaks; undefined before {@link CallStore.savePeaks}. */
  peaks(projectId: string, id: string): Promise<RecordingPeaks | undefined>;
  /** Stores a recording's waveform for as long as the recording. @param key - The key of the measured recording. */
  savePeaks(id: string, key: string, peaks: RecordingPeaks): Promise<void>;
  /** Response latencies of the sessions that had agent turns. */
  turnLatencies(instanceIds: readonly string[]): Promise<Map<string, TurnLatency>>;
}

export interface ResultNames {
  readonly metadata: readonly string[];
  readonly variables: readonly string[];
  /** The names of criteria. */
  readonly evaluation: readonly string[];
  /** The names of the data of analyses. */
  readonly data: readonly string[];
}

export interface CallResults {
  readonly variables: Readonly<Record<string, unknown>>;
  /** Tells for each criterion, by its name, whether it was met, or its score. */
  readonly evaluation: Readonly<Record<string, boolean | number | null>>;
}

export interface QueuedCall {
  readonly id: string;
  readonly projectId: string;
  readonly toNumber: string;
}

export interface OrphanedCall {
  readonly call: Call;
  /** Last heartbeat of its node; null when unknown. */
  readonly lastSeenAt: string | null;
}

/** The time from the end of the caller's turn to the agent's first audio, in ms. */
export interface TurnLatency {
  readonly p50: number;
  readonly p95: number;
}
