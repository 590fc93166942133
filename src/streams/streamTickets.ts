import { randomBytes } from 'node:crypto';

import type { DueDisclosure } from '../agents/disclosures.ts';
import type { Clock } from '../base/values/clock.ts';
import type {
  BotTarget,
  FailedTransfer,
  StreamOpening,
  StreamParty,
} from '../conversation/streams/audioStream.ts';
import type { DialectName } from '../dialects/index.ts';

/** What a ticket admits: one audio stream of a session. */
export interface StreamGrant {
  readonly projectId: string;
  readonly sessionId: string;
  readonly dialect: DialectName;
  /** A call of ours; undefined for streams of other carriers. */
  readonly callId?: string;
  /** The slot of the project's concurrent calls that a stream without a call holds. */
  readonly slotId?: string;
  /** The connection was checked: its signature, where its dialect has one, and a visitor's origin. */
  readonly isAdmitted?: true;
  /** The trace context of the call's span. */
  readonly traceparent?: string;
  readonly opening?: StreamOpening;
  readonly party?: StreamParty;
  readonly disclosures?: readonly DueDisclosure[];
  readonly bot?: BotTarget;
  /** The URL of the HTTP API, which the connection asks for a further stream. */
  readonly publicUrl?: string;
  /** The jambonz application that steers the call of this audio. */
  readonly applicationId?: string;
  readonly failedTransfer?: FailedTransfer;
  /** The visitor of a web page who opened the stream. */
  readonly visitor?: StreamVisitor;
  /** Whether the client is told what both sides say. */
  readonly captions?: boolean;
}

/** Who may connect, and whose minutes the stream uses up. */
export interface StreamVisitor {
  readonly tokenId: string;
  readonly allowedOrigins: readonly string[];
}

export type { FailedTransfer };

/** What a ticket of a supervisor admits: a connection that is passed on. */
export interface RelayGrant {
  /** `ws:` or `wss:`, with a ticket of the node there. */
  readonly relayTo: string;
}

/** Time for a client to receive the URL and to connect. */
export const TICKET_LIFETIME_MS = 30_000;
export const STREAM_PATH = '/v1/media-streams';
const TICKET_BYTES = 24;

export function makeTicket(): string {
  return randomBytes(TICKET_BYTES).toString('base64url');
}

/** Single-use tickets for WebSocket connections, shared by all nodes, since any node may get the connection. */
export interface StreamTickets {
  issue(ticket: string, grant: StreamGrant | RelayGrant, lifetimeMs: number): Promise<void>;
  /** Uses the ticket up. @returns Undefined when it is unknown, expired or used. */
  redeem(ticket: string): Promise<StreamGrant | RelayGrant | undefined>;
}

/** Tickets that a voice thread was told by its own node, in its memory: they need no Redis. */
export class AdmittedTickets {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #admitted = new Map<string, { readonly grant: StreamGrant; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  admit(ticket: string, grant: StreamGrant): void {
    this.#forgetExpired();
    this.#admitted.set(ticket, { grant, untilMs: this.#clock.monotonicMs() + TICKET_LIFETIME_MS });
  }

  /** Uses the ticket up. @returns Undefined when it is unknown, expired or used. */
  redeem(ticket: string): StreamGrant | undefined {
    this.#forgetExpired();
    const admitted = this.#admitted.get(ticket);
    this.#admitted.delete(ticket);
    return admitted?.grant;
  }

  #forgetExpired(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [ticket, { untilMs }] of this.#admitted) {
      if (untilMs > nowMs) return;
      this.#admitted.delete(ticket);
    }
  }
}
