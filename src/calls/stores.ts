import type { Page, PageOf } from '../base/page.ts';
import type { HistoryEvent, Session } from '../engine/session/session.ts';
import type { Call, CallChange, CallDirection, CallRecording, CallStatus } from './call.ts';

import type { PhoneNumber, PhoneNumberInput, PhoneNumberPatch } from './phoneNumber.ts';
import type { Trunk, TrunkInput, TrunkPatch } from './trunk.ts';

/** Passwords are sealed in it. */
export interface TrunkStore {
  insert(projectId: string, id: string, input: TrunkInput, at: string): Promise<Trunk>;
  find(projectId: string, id: string): Promise<Trunk | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Trunk>>;
  update(projectId: string, id: string, patch: TrunkPatch, at: string): Promise<Trunk | undefined>;
  /** @throws {CallwayError} 409 `trunk_in_use` while a number names it. */
  remove(projectId: string, id: string): Promise<boolean>;
  /** Active trunks of all projects: for registration, health and the matching of what comes in. */
  active(): Promise<Trunk[]>;
  /** Active trunks of one project, oldest first. */
  activeOf(projectId: string): Promise<Trunk[]>;
}

/** Numbers are kept and compared in the product's normal form. */
export interface PhoneNumberStore {
  /** @throws {CallwayError} 400 `phone_number_exists`, 400 for a trunk id that the project does not have. */
  insert(projectId: string, id: string, input: PhoneNumberInput, at: string): Promise<PhoneNumber>;
  find(projectId: string, id: string): Promise<PhoneNumber | undefined>;
  findByNumber(projectId: string, number: string): Promise<PhoneNumber | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<PhoneNumber>>;
  update(
    projectId: string,
    id: string,
    patch: PhoneNumberPatch,
    at: string,
  ): Promise<PhoneNumber | undefined>;
  remove(projectId: string, id: string): Promise<boolean>;
}

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
  unclaim(id: string, nodeId: string): Promise<void>;
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
  closeRecording(id: string, recording: CallRecording): Promise<Call | undefined>;
  /** All that the call's end makes due is done. */
  settle(id: string): Promise<void>;
  /** Calls that no node has taken yet, oldest first. @param after - Only those after this one. */
  queued(after: string | null, limit: number): Promise<QueuedCall[]>;
  /**
   * Calls that nobody sees to: carried by a node that has not beaten since `before`, or over since then and still not
   * settled, though no recording of theirs is being stored.
   */
  orphans(before: Date, limit: number): Promise<OrphanedCall[]>;
  /** Calls of one node that are not settled; where it begins another life, what its former one left. */
  carriedBy(nodeId: string): Promise<OrphanedCall[]>;
  /** A node's sign of life. */
  beat(nodeId: string, at: Date): Promise<void>;
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

/** Recordings whose calls are gone, by retention or with their project; their files are to be removed. */
export interface RecordingRemovals {
  /** Keys in the recording store, longest due first. */
  due(limit: number): Promise<string[]>;
  done(key: string): Promise<void>;
}

/** One SIP message of a call, credentials blanked. */
export interface SipTraceMessage {
  readonly at: string;
  readonly direction: 'in' | 'out';
  readonly transport: string;
  /** `address:port` */
  readonly remote: string;
  readonly text: string;
}

export interface SipTraceStore {
  append(projectId: string, callId: string, messages: readonly SipTraceMessage[]): Promise<void>;
  /** In the order in which they were sent and received. */
  list(projectId: string, callId: string): Promise<SipTraceMessage[]>;
}
