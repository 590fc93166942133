import { randomBytes } from 'node:crypto';

import type { Clock } from '../base/clock.ts';
import { invalid } from '../base/errors.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { StreamDialect } from '../media/mediaSession.ts';
import type { AudioStream } from '../voice/audioStream.ts';
import { acceptStream } from './acceptStream.ts';
import type { ExpectedStream, StreamTickets } from './streamTickets.ts';
import { CLOSE_NORMAL, type StreamSocket } from './transport/streamSocket.ts';

export interface OpenStream {
  readonly dialect: StreamDialect;
  readonly sessionId?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly draft?: boolean;
}

export interface OpenedStream {
  readonly streamId: string;
  readonly sessionId: string;
  /** With the ticket in its path: carriers drop query strings. */
  readonly url: string;
  readonly expiresAt: string;
}

/** Streams of audio that reach the engine over a WebSocket. */
export interface MediaStreams {
  /**
   * Makes a ticket for one connection, and a session where there is none of this id.
   *
   * @throws {CallwayError} 400 `session_id_in_use` when variables are given for a session that is live.
   */
  open(projectId: string, request: OpenStream): Promise<OpenedStream>;
  /** A ticket for a call's own bridge. @param baseUrl - Of the engine's node. @returns The address to connect to. */
  openForCall(stream: ExpectedStream, baseUrl: string): Promise<string>;
  redeem(ticket: string): Promise<ExpectedStream | undefined>;
  /** Takes over a socket whose ticket was redeemed; resolves when its talk is over. Never rejects. */
  serve(stream: ExpectedStream, socket: StreamSocket): Promise<void>;
}

export interface MediaStreamsDeps {
  readonly tickets: StreamTickets;
  readonly conversations: Pick<ConversationEngine, 'create' | 'find' | 'end'>;
  /** Talks over a stream until it closes, or closes it. */
  readonly talk: (stream: AudioStream) => Promise<unknown>;
  readonly clock: Clock;
  readonly makeId: () => string;
  /** How the outside reaches the HTTP API. */
  readonly publicUrl: () => string;
  readonly onError: (error: unknown, what: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Long enough for a carrier to be told and to connect. */
export const TICKET_LIFETIME_MS = 30_000;
const TICKET_BYTES = 24;
export const STREAM_PATH = '/v1/media-streams';

export function createMediaStreams(deps: MediaStreamsDeps): MediaStreams {
  const { tickets, conversations, clock } = deps;
  const issue = async (stream: ExpectedStream, baseUrl: string): Promise<string> => {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    await tickets.issue(ticket, stream, TICKET_LIFETIME_MS);
    return `${baseUrl.replace(/^http/, 'ws')}${STREAM_PATH}/${ticket}`;
  };

  const requireSession = async (projectId: string, sessionId: string, request: OpenStream) => {
    if (await conversations.find(projectId, sessionId)) {
      if (request.variables === undefined) return;
      throw invalid(
        'session_id_in_use',
        `variables can be given to a new session only; ${sessionId} is live`,
      );
    }
    const { variables = {}, draft = false } = request;
    await conversations.create({ projectId, sessionId, channel: 'web', variables, draft });
  };

  return {
    async open(projectId, request) {
      const sessionId = request.sessionId ?? deps.makeId();
      await requireSession(projectId, sessionId, request);
      const expiresAt = new Date(clock.now() + TICKET_LIFETIME_MS).toISOString();
      const url = await issue({ projectId, sessionId, dialect: request.dialect }, deps.publicUrl());
      return { streamId: deps.makeId(), sessionId, url, expiresAt };
    },
    openForCall: issue,
    redeem: (ticket) => tickets.redeem(ticket),
    async serve(expected, socket) {
      const { projectId, sessionId, callId } = expected;
      const fields = { projectId, sessionId, ...(callId === undefined ? {} : { callId }) };
      const onListenerError = (error: unknown, event: string) =>
        deps.onError(error, `a listener of ${event} failed`, fields);
      try {
        const stream = await acceptStream(socket, expected, { clock, onListenerError });
        if (!stream) return;
        await deps.talk(stream);
        stream.close(CLOSE_NORMAL);
        if (stream.malformed > 0) {
          deps.onError(undefined, 'a stream had messages that could not be read', {
            ...fields,
            malformed: stream.malformed,
          });
        }
        // The carrier said that its call is over. A call of ours is ended by whoever carries it, and a stream that
        // only broke may be taken up again.
        if (callId === undefined && stream.wasStopped)
          await conversations.end(projectId, sessionId, 'call_ended');
      } catch (error) {
        deps.onError(error, 'a stream failed', fields);
        socket.terminate();
      }
    },
  };
}
