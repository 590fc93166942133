import { randomBytes } from 'node:crypto';

import { repeat } from '../base/async/repeat.ts';
import type { Clock } from '../base/clock.ts';
import { type CallwayError, invalid } from '../base/errors.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { AudioStream } from '../voice/audioStream.ts';
import { acceptStream } from './acceptStream.ts';
import type { DialectName } from './dialects/index.ts';
import type { StreamGrant, StreamTickets } from './streamTickets.ts';
import { CLOSE_NORMAL, type StreamSocket } from './transport/streamSocket.ts';

export interface OpenStream {
  readonly dialect: DialectName;
  readonly sessionId?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly draft?: boolean;
}

export interface OpenedStream {
  readonly streamId: string;
  readonly sessionId: string;
  /** The ticket is in the path, since carriers drop query strings. */
  readonly url: string;
  readonly expiresAt: string;
}

/** Audio streams to our agents: from the request for a ticket to the end of the voice session. */
export interface MediaStreams {
  /**
   * Issues a ticket for one connection, and creates the session unless it exists.
   *
   * @throws {CallwayError} 400 `session_id_in_use` when variables are given for an existing session; 503 `node_draining`,
   *   `node_overloaded` for a new session; 429 `call_limit_exceeded` beyond the project's concurrent calls.
   */
  open(projectId: string, request: OpenStream): Promise<OpenedStream>;
  /** Issues a ticket for a call's own stream. @param baseUrl - Of the voice node. @returns The URL to connect to. */
  openForCall(grant: StreamGrant, baseUrl: string): Promise<string>;
  redeem(ticket: string): Promise<StreamGrant | undefined>;
  /** Serves a connection whose ticket was redeemed. Resolves when its voice session has ended; never rejects. */
  serve(grant: StreamGrant, socket: StreamSocket): Promise<void>;
}

/** The concurrent calls of projects, which streams without a call count as. Unrenewed slots expire within a minute. */
export interface StreamSlots {
  /** @throws {CallwayError} 429 `call_limit_exceeded` when none is free. */
  acquire(projectId: string, slotId: string): Promise<void>;
  renew(projectId: string, slotId: string): Promise<void>;
  release(projectId: string, slotId: string): Promise<void>;
}

export interface MediaStreamsDeps {
  readonly slots: StreamSlots;
  readonly tickets: StreamTickets;
  readonly conversations: Pick<ConversationEngine, 'create' | 'find' | 'end'>;
  /** Runs a voice session on the stream; resolves when it has ended. */
  readonly serveVoiceSession: (stream: AudioStream) => Promise<unknown>;
  /** Why this node takes no new sessions at the moment: it shuts down, or is overloaded. */
  readonly callRefusal: () => CallwayError | undefined;
  readonly clock: Clock;
  readonly makeId: () => string;
  /** Of the HTTP API, as peers reach it. */
  readonly publicUrl: () => string;
  readonly onError: (error: unknown, message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Time for a carrier to receive the URL and to connect. */
export const TICKET_LIFETIME_MS = 30_000;
const TICKET_BYTES = 24;
/** A third of the time after which a slot expires. */
const RENEW_SLOT_MS = 20_000;
export const STREAM_PATH = '/v1/media-streams';

export function createMediaStreams(deps: MediaStreamsDeps): MediaStreams {
  const { tickets, slots, conversations, clock } = deps;
  const issue = async (grant: StreamGrant, baseUrl: string): Promise<string> => {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    await tickets.issue(ticket, grant, TICKET_LIFETIME_MS);
    return `${baseUrl.replace(/^http/, 'ws')}${STREAM_PATH}/${ticket}`;
  };
  return {
    async open(projectId, { dialect, sessionId = deps.makeId(), variables, draft = false }) {
      const streamId = deps.makeId();
      const isNew = (await conversations.find(projectId, sessionId)) === undefined;
      const refusal = isNew ? deps.callRefusal() : undefined;
      if (refusal) throw refusal;
      if (!isNew && variables !== undefined) {
        const message = `the session ${sessionId} exists; variables are for new sessions only`;
        throw invalid('session_id_in_use', message);
      }
      await slots.acquire(projectId, streamId);
      try {
        const wanted = { projectId, sessionId, channel: 'web', variables: variables ?? {}, draft } as const;
        const opening = isNew ? { session: await conversations.create(wanted) } : undefined;
        const expiresAt = new Date(clock.now() + TICKET_LIFETIME_MS).toISOString();
        const grant = { projectId, sessionId, dialect, slotId: streamId, ...(opening ? { opening } : {}) };
        const url = await issue(grant, deps.publicUrl());
        return { streamId, sessionId, url, expiresAt };
      } catch (error) {
        await slots.release(projectId, streamId);
        throw error;
      }
    },
    openForCall: issue,
    redeem: (ticket) => tickets.redeem(ticket),
    async serve(grant, socket) {
      const { projectId, sessionId, callId } = grant;
      const fields = { projectId, sessionId, ...(callId === undefined ? {} : { callId }) };
      const onListenerError = (error: unknown, event: string) =>
        deps.onError(error, `audio stream: a listener of ${event} failed`, fields);
      const freeSlot = holdSlot(deps, grant);
      try {
        const stream = await acceptStream(socket, grant, { clock, onListenerError });
        if (!stream) return;
        await deps.serveVoiceSession(stream);
        stream.close(CLOSE_NORMAL);
        const { malformed } = stream;
        if (malformed > 0) {
          deps.onError(undefined, 'audio stream: messages could not be read', { ...fields, malformed });
        }
        // The carrier has ended its call. Our own calls end their session themselves, and a stream that only broke may
        // be reconnected.
        if (callId === undefined && stream.wasStopped) {
          await conversations.end(projectId, sessionId, 'call_ended');
        }
      } catch (error) {
        deps.onError(error, 'audio stream failed', fields);
        socket.terminate();
      } finally {
        await freeSlot();
      }
    },
  };
}

/** Renews the slot of a stream until the returned function is called, which never rejects. */
function holdSlot(
  { slots, clock, onError }: MediaStreamsDeps,
  { projectId, sessionId, slotId }: StreamGrant,
): () => Promise<void> {
  if (slotId === undefined) return async () => undefined;
  const report = (error: unknown) =>
    onError(error, 'slot of an audio stream not updated, it expires', { projectId, sessionId });
  const stop = repeat(clock, RENEW_SLOT_MS, () => slots.renew(projectId, slotId), report);
  return async () => {
    await stop();
    await slots.release(projectId, slotId).catch(report);
  };
}
