import type { StreamDialect } from '../media/mediaSession.ts';

/** The stream that a WebSocket's ticket admits. */
export interface ExpectedStream {
  readonly projectId: string;
  readonly sessionId: string;
  readonly dialect: StreamDialect;
  readonly callId?: string;
  /** Of the call's span. */
  readonly traceparent?: string;
}

/** Single-use tickets, each for one WebSocket; visible to every node, since any may get the connection. */
export interface StreamTickets {
  issue(ticket: string, stream: ExpectedStream, lifetimeMs: number): Promise<void>;
  /** Uses the ticket up. @returns The stream; undefined when the ticket is unknown, expired or used. */
  redeem(ticket: string): Promise<ExpectedStream | undefined>;
}
