import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { repeat } from '../../../base/async/repeat.ts';
import { CallwayError, invalid, nodeDraining } from '../../../base/errors.ts';
import { placeOf } from '../../../events/eventId.ts';
import { INTERIM, type LiveEventType, liveEvent, liveEventType } from '../../../events/liveEvent.ts';
import { errorEvent, LiveStream } from '../../../events/liveStream.ts';
import { disconnectSignal } from '../../disconnectSignal.ts';
import { openEventStream } from '../../eventStream.ts';
import { OpenPerProject } from '../../openPerProject.ts';
import { isStillAuthenticated } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, commaList, errors, projectParams } from '../../schemas.ts';

/** The most streams of one project on one node; each may buffer a quarter of a megabyte. */
const MAX_STREAMS = 100;
const KEY_CHECK_MS = 15_000;
/** A key that cannot be checked counts as valid for this long. */
const KEY_TRUSTED_MS = 45_000;
/** A client that connects again does so this soon. */
const RECONNECT_MS = 1_000;

const EVENTS_LOST = {
  code: 'events_lost',
  message: 'Events after Last-Event-ID may have been lost; the history of the sessions has them',
};
const REVOKED = { code: 'key_revoked', message: 'The key of this stream is not valid any more' };

const DESCRIPTION = [
  'What happens now, as server-sent events: `id`, `event` (the type) and `data`, which is a `LiveEvent`. A comment comes every 15 s.',
  'With `Last-Event-ID` the stream goes on after that event, on any node: events of the last ten minutes are kept, and of a quiet project those of an hour. Where some may have been lost, an event `error` with the code `events_lost` comes first.',
  'A client that does not read as fast as events happen gets an event `error` with the code `slow_reader`, and the stream ends. It also ends when its key is revoked, and when the node stops: connect again.',
  `A project has at most ${MAX_STREAMS} streams on each node: 429 \`too_many_event_streams\`.`,
].join('\n\n');

const typeList = commaList(liveEventType)
  .describe('Types of events, separated by commas or repeated. Default: all.')
  .meta({ example: 'call.answered,call.ended' });

const query = z.object({
  type: typeList.optional(),
  sessionId: z.string().optional().describe('Only the events of this session.'),
  callId: z.string().optional().describe('Only the events of this call.'),
  interim: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true` adds `transcript.interim`: what a caller has said so far.'),
});

const headers = z.object({
  'last-event-id': z.string().optional().describe('Of the last event that the client has.'),
});

/** Server-sent events of a project. */
export function eventRoutes(app: App, deps: HttpDeps): void {
  const {
    sessions: { eventFeed: feed },
    clock,
    settings,
  } = deps;
  const open = new OpenPerProject(MAX_STREAMS);
  const streams = new Set<LiveStream>();
  settings.draining?.addEventListener('abort', () => {
    for (const stream of streams) stream.close();
  });

  app.get(
    '/v1/projects/:projectId/events',
    {
      config: { access: { kind: 'project', scope: 'read' }, isLong: true },
      schema: {
        ...about('Events', 'Stream events', DESCRIPTION),
        params: projectParams,
        querystring: query,
        headers,
        response: {
          200: {
            description: 'The stream; `data` is one of these.',
            content: { 'text/event-stream': { schema: liveEvent } },
          },
          ...errors(),
        },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const { type, interim, ...subject } = request.query;
      const lastEventId = request.headers['last-event-id'];
      const wantsInterim = interim === 'true';
      requireInterim(type, wantsInterim);
      if (lastEventId !== undefined && placeOf(lastEventId) === undefined)
        throw invalid('invalid_last_event_id', 'Last-Event-ID must be the id of an event of this stream');
      if (settings.isDraining()) throw nodeDraining();
      const leave = open.enter(projectId);
      if (!leave) throw tooManyStreams();
      const gone = disconnectSignal(reply);
      const filter = { ...subject, types: type && new Set(type), interim: wantsInterim };
      const onSlowReader = () => {
        deps.operations.logger.warn(
          { projectId, requestId: request.id },
          'event stream closed: client reads too slowly',
        );
      };
      const stream = new LiveStream({ feed, clock, onSlowReader }, projectId, filter);
      streams.add(stream);
      let stopListening = () => {};
      const close = () => {
        streams.delete(stream);
        stopListening();
        leave();
      };
      try {
        stopListening = await feed.listen(projectId, stream);
        const hasLost = await stream.seek(lastEventId);
        gone.throwIfAborted();
        const client = openEventStream(reply, clock);
        client.send(`retry: ${RECONNECT_MS}\n\n${hasLost ? errorEvent(EVENTS_LOST) : ''}`);
        const stopChecking = checkKey(deps, request, stream);
        reply.raw.once('close', () => {
          stream.close();
          void stopChecking();
          close();
        });
        stream.run(client);
      } catch (error) {
        close();
        if (!gone.aborted) throw error;
      }
      return reply;
    },
  );
}

/** Ends a stream whose key is revoked. @returns Stops it. */
function checkKey(deps: HttpDeps, request: FastifyRequest, stream: LiveStream): () => Promise<void> {
  const { clock } = deps;
  let knownAtMs = clock.monotonicMs();
  const check = async () => {
    const isValid = await isStillAuthenticated(deps.access, request).catch(() => undefined);
    if (isValid) knownAtMs = clock.monotonicMs();
    else if (isValid === false || clock.monotonicMs() - knownAtMs > KEY_TRUSTED_MS) stream.close(REVOKED);
  };
  return repeat(clock, KEY_CHECK_MS, check, () => undefined);
}

/** @throws {CallwayError} 400, where the stream would stay silent. */
function requireInterim(types: readonly LiveEventType[] | undefined, wantsInterim: boolean): void {
  if (wantsInterim || !types?.includes(INTERIM)) return;
  const message = `${INTERIM} is sent with interim=true only`;
  throw invalid('invalid_request', message, [{ path: '/type', message }]);
}

function tooManyStreams(): CallwayError {
  const message = `The project has ${MAX_STREAMS} open streams of events; close some`;
  return new CallwayError('rate_limited', 'too_many_event_streams', message, { retryAfterSeconds: 5 });
}
