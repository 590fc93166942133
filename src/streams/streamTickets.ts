import type { StreamOpening, StreamParty } from '../voice/audioStream.ts';
import type { DialectName } from './dialects/index.ts';

/** What a ticket admits: one audio stream of a session. */
export interface StreamGrant {
  readonly projectId: string;
  readonly sessionId: string;
  readonly dialect: DialectName;
  /** A call of ours; undefined for streams of other carriers. */
  readonly callId?: string;
  /** The slot of the project's concurrent calls that a stream without a call holds. */
  readonly slotId?: string;
  /** Of the call's span. */
  readonly traceparent?: string;
  readonly opening?: StreamOpening;
  readonly party?: StreamParty;
}

/** Single-use tickets for WebSocket connections, shared by all nodes, since any node may get the connection. */
export interface StreamTickets {
  issue(ticket: string, grant: StreamGrant, lifetimeMs: number): Promise<void>;
  /** Uses the ticket up. @returns Undefined when it is unknown, expired or used. */
  redeem(ticket: string): Promise<StreamGrant | undefined>;
}
