import { randomBytes } from 'node:crypto';
import { invalid } from '../base/errors.js';
import { acceptStream } from './acceptStream.js';
import { CLOSE_NORMAL } from './streamSocket.js';
/** Long enough for a carrier to be told and to connect. */
export const TICKET_LIFETIME_MS = 30_000;
const TICKET_BYTES = 24;
export const STREAM_PATH = '/v1/media-streams';
export function createMediaStreams(deps) {
  const { tickets, conversations, clock } = deps;
  const issue = async (stream, baseUrl) => {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    await tickets.issue(ticket, stream, TICKET_LIFETIME_MS);
    return `${baseUrl.replace(/^http/, 'ws')}${STREAM_PATH}/${ticket}`;
  };
  const requireSession = async (projectId, sessionId, request) => {
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
      const onListenerError = (error, event) => deps.onError(error, `a listener of ${event} failed`, fields);
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
