import type { Page, PageOf } from '../base/page.ts';
import type { HistoryEvent, Session } from '../engine/session/session.ts';
import type { Call, CallChange, CallDirection, CallStatus, RecordingResult } from './call.ts';

export interface CallFilter {
  readonly direction?: CallDirection;
  readonly status?: CallStatus;
  readonly sessionId?: string;
}

export interface CallStore {
  /**
   * Keeps a call and its session in one transaction.
   *
   * @throws {CallwayError} 409 `number_already_queued` when the project has another live outbound call to its number.
   */
  insert(call: Call, session: Session, started: HistoryEvent): Promise<void>;
  find(projectId: string, id: string): Promise<Call | undefined>;
  list(projectId: string, filter: CallFilter, page: Page): Promise<PageOf<Call>>;
  /**
   * Takes a queued call for a node. @returns The call; undefined where it is not queued any more.
   */
  claim(id: string, nodeId: string, at: string): Promise<Call | undefined>;
  /** Puts a claimed call that was not dialled yet back into the queue. */
  releaseClaim(id: string, nodeId: string): Promise<void>;
  /**
   * Changes a live call; a call that is over is left alone.
   *
   * @param nodeId - Only while this node carries it.
   * @returns The call after it; undefined where nothing was changed.
   */
  update(
    id: string,
    nodeId: string | null,
    change: CallChange,
    event?: HistoryEvent,
  ): Promise<Call | undefined>;
  /** Asks whoever carries it to hang up; a queued one is over at once. */
  requestHangup(projectId: string, id: string, at: string): Promise<Call | undefined>;
  /**
   * What became of the recording; the first time counts, before the call's end and after it.
   *
   * @returns The call after it; undefined where nothing was changed.
   */
  completeRecording(id: string, recording: RecordingResult): Promise<Call | undefined>;
  /** All that the call's end makes due is done. */
  markSettled(id: string): Promise<void>;
  /** Calls that no node has taken yet, oldest first. @param after - Only those after this one. */
  listQueued(after: string | null, limit: number): Promise<QueuedCall[]>;
  /**
   * Calls that nobody sees to: carried by a node that has not beaten since `before`, or over since then and still not
   * settled, though no recording of theirs is being stored.
   */
  listOrphans(before: Date, limit: number): Promise<OrphanedCall[]>;
  /** Calls of one node that are not settled; where it begins another life, what its former one left. */
  listUnsettledOn(nodeId: string): Promise<OrphanedCall[]>;
  /** A node's sign of life. */
  recordHeartbeat(nodeId: string, at: Date): Promise<void>;
  /** How long callers waited for the agent's first words, of those sessions that had turns. */
  turnLatencies(instanceIds: readonly string[]): Promise<Map<string, TurnLatency>>;
}

export interface QueuedCall {
  readonly id: string;
  readonly projectId: string;
  readonly toNumber: string;
  readonly createdAtMs: number;
}

export interface OrphanedCall {
  readonly call: Call;
  /** When its node last beat; null where that is not known. */
  readonly lastSeenAt: string | null;
}

export interface TurnLatency {
  readonly p50: number;
  readonly p95: number;
}
