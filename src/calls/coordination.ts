import type { StreamDialect } from '../media/mediaSession.ts';
import type { Trunk, TrunkHealth } from './trunk.ts';

/** What nodes agree on through Redis; each lease runs out by itself when its holder dies. */

/** One live outbound call per project and number, from acceptance to the call's end. */
export interface NumberLock {
  /**
   * Takes it for a short lease, so that a node that dies before the call is kept does not hold the number for long.
   *
   * @param callId - Holds it; the same call may take it again.
   * @returns The fencing token, which grows with each taking; undefined while another call holds it.
   */
  take(projectId: string, toNumber: string, callId: string): Promise<number | undefined>;
  /** Keeps it for another, longer lease. @returns False when it was lost. */
  renew(projectId: string, toNumber: string, callId: string): Promise<boolean>;
  /** Frees it if this call holds it. */
  free(projectId: string, toNumber: string, callId: string): Promise<void>;
}

/** Accepted calls on their way to a node that places them. */
export interface CallQueue {
  /** Idempotent per call. */
  add(callId: string, projectId: string): Promise<void>;
  /** Takes it out where it has not been begun. */
  remove(callId: string): Promise<void>;
  /** Begins to take jobs. @param work - Resolves `again` with a wait when the call could not be placed yet. */
  process(work: (callId: string) => Promise<JobResult>, concurrency: number): Promise<QueueWorker>;
}

export type JobResult = { readonly done: true } | { readonly again: true; readonly afterMs: number };

export interface QueueWorker {
  /** Takes no more jobs; those begun go on. */
  pause(): Promise<void>;
  close(): Promise<void>;
}

/** A trunk's channels and its new calls per second, counted over all nodes. */
export interface TrunkSlots {
  /** Takes a channel, and a place in this second. @returns How long to wait where there is none; 0 where it was taken. */
  take(trunk: Trunk, callId: string, direction: 'outbound' | 'inbound'): Promise<number>;
  renew(trunkId: string, callId: string): Promise<void>;
  free(trunkId: string, callId: string): Promise<void>;
  inUse(trunkId: string): Promise<number>;
}

/** What a project's outbound calls use up of a day. */
export interface DayUse {
  readonly talkedMs: number;
  /** Of the money that its rates are in. @see costOf */
  readonly spentMillionths: number;
}

/** A project's calls, counted over all nodes. */
export interface ProjectCalls {
  /** Counts an outbound call that is accepted, unless that would be one too many. @returns What is used up then. */
  count(
    projectId: string,
    most: {
      readonly perMinute: number | null;
      readonly perHour: number | null;
      readonly talkedMsPerDay: number | null;
      readonly spentMillionthsPerDay: number | null;
    },
  ): Promise<
    { readonly what: 'rate' | 'minutes' | 'spending'; readonly retryAfterSeconds: number } | undefined
  >;
  /** Adds to what outbound calls have used up today, in UTC. @returns The sums. */
  use(projectId: string, more: DayUse): Promise<DayUse>;
  /** Takes one of so many places for simultaneous calls; one that has a place keeps it. */
  take(projectId: string, callId: string, most: number): Promise<boolean>;
  renew(projectId: string, callId: string): Promise<void>;
  free(projectId: string, callId: string): Promise<void>;
}

/** What each trunk's watcher last saw, for all nodes to read. */
export interface TrunkHealthBoard {
  publish(trunkId: string, health: Omit<TrunkHealth, 'channelsInUse'>): Promise<void>;
  /** Null fields where nobody has looked yet. */
  read(trunkIds: readonly string[]): Promise<Map<string, Omit<TrunkHealth, 'channelsInUse'>>>;
}

/** Something that exactly one node does at a time. */
export interface Leases {
  /** @returns Whether this node has it, for another `leaseMs`. */
  hold(name: string, leaseMs: number): Promise<boolean>;
  release(name: string): Promise<void>;
}

/** Short messages between nodes; they may be lost, and whoever needs more looks into the database. */
export interface NodeBus {
  /** `trunks`: a trunk or number was changed. `call`: a live call has a wish of the API. */
  publish(message: NodeMessage): Promise<void>;
  subscribe(listener: (message: NodeMessage) => void): () => void;
}

export type NodeMessage =
  | { readonly kind: 'trunks' }
  | { readonly kind: 'hangup'; readonly callId: string }
  | { readonly kind: 'transfer'; readonly callId: string; readonly to: string };

/** A node that talks with callers, as the nodes that carry calls see it. */
export interface VoiceNode {
  readonly nodeId: string;
  /** Of its HTTP server, as other nodes reach it: `http://host:port`. */
  readonly url: string;
  /** Streams that it talks on. */
  readonly talks: number;
}

/** The voice nodes that live, as each of them says. */
export interface VoiceNodes {
  /** Says so for another `leaseMs`, in place of what it said before. */
  announce(node: VoiceNode, leaseMs: number): Promise<void>;
  /** It takes no new talks. */
  withdraw(nodeId: string): Promise<void>;
  alive(): Promise<readonly VoiceNode[]>;
}

/** The talk that a WebSocket's ticket lets in. */
export interface ExpectedStream {
  readonly projectId: string;
  readonly sessionId: string;
  readonly dialect: StreamDialect;
  readonly callId?: string;
  /** Of the call's span. */
  readonly traceparent?: string;
}

/** What lets one WebSocket in; kept where every node can see it, since any may get the connection. */
export interface StreamTickets {
  issue(ticket: string, stream: ExpectedStream, lifetimeMs: number): Promise<void>;
  /** @returns The stream; undefined where the ticket is unknown, too old or used. Who redeems it uses it up. */
  redeem(ticket: string): Promise<ExpectedStream | undefined>;
}
