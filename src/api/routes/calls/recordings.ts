import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import { storedRecording } from '../../../calls/call.ts';
import {
  type ByteRange,
  type OpenRecording,
  RangeNotSatisfiableError,
} from '../../../calls/recording/recordingStore.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errorResponse, errors } from '../../schemas.ts';
import { CALL_PATH, callParams } from './calls.ts';

type RecordingRequest = FastifyRequest<{
  Headers: { range?: string | undefined; 'if-range'?: string | undefined };
}>;

/** A Range header of one range. */
const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/;
const ERROR_STATUSES = [400, 403, 404, 416, 500, 503] as const;
const audio = { content: { 'audio/wav': { schema: z.string().meta({ format: 'binary' }) } } };
const rangeHeaders = z.looseObject({ range: z.string().optional(), 'if-range': z.string().optional() });
/** Typed as plain objects, since a stream is sent, not a value of the schemas. */
const response: Record<string, object> = {
  200: { description: 'The recording.', ...audio },
  206: { description: 'The requested range.', ...audio },
  ...Object.fromEntries(ERROR_STATUSES.map((status) => [status, errorResponse])),
};

const FORMAT =
  'Stereo WAV: the caller on the left channel, the agent on the right. A request may ask for one byte range.';

export function recordingRoutes(app: App, deps: HttpDeps): void {
  signedRecordingRoute(app, deps);
  callRoute(app, deps);
}

/** Registers the route by which other nodes read the recordings of this one; nodes without the API have it too. */
export function signedRecordingRoute(app: App, deps: HttpDeps): void {
  app.get(
    '/v1/recordings/:token',
    {
      config: { access: { kind: 'public' } },
      schema: {
        tags: ['Calls'],
        summary: 'Download a recording',
        description: `${FORMAT} The link is \`recordingUrl\` in webhooks and in the session history; it needs no key and is valid for an hour.`,
        params: z.object({ token: z.string().describe('As in the link.') }),
        headers: rangeHeaders,
        response,
      },
    },
    async (request, reply) => {
      return await sendRecording(
        deps,
        deps.audio.recordings.urls.verify(request.params.token),
        request,
        reply,
      );
    },
  );
}

function callRoute(app: App, deps: HttpDeps): void {
  app.get(
    `${CALL_PATH}/audio`,
    {
      config: { access: { kind: 'project', scope: 'read' }, isLong: true },
      schema: {
        ...about('Calls', 'Get a call’s audio', `${FORMAT} 404 before it is ready.`),
        params: callParams,
        headers: rangeHeaders,
        response: { ...response, 401: errors()[401], 429: errorResponse },
      },
    },
    async (request, reply) => {
      const { projectId, callId } = request.params;
      const call = await deps.storage.stores.calls.find(projectId, callId);
      const key = call && storedRecording(call)?.key;
      if (key === undefined) throw notFound('Recording');
      return await sendRecording(deps, key, request, reply);
    },
  );
}

/** Sends a recording, or the range of it that was asked for. @throws {CallwayError} 404 `recording_not_found` */
async function sendRecording(
  { audio: { recordings } }: HttpDeps,
  key: string,
  request: RecordingRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // There is no validator to compare If-Range with, so the whole recording is sent.
  const range = request.headers['if-range'] === undefined ? parseRange(request.headers.range) : undefined;
  const recording = await recordings.store.open(key, range).catch((error: unknown) => {
    if (error instanceof RangeNotSatisfiableError) return error;
    throw error;
  });
  if (recording === undefined) throw notFound('Recording');
  if (recording instanceof RangeNotSatisfiableError) {
    return await reply
      .code(416)
      .header('content-range', `bytes */${recording.totalBytes}`)
      .send({ error: `The recording has ${recording.totalBytes} bytes`, code: 'range_not_satisfiable' });
  }
  const { first, last, totalBytes } = recording;
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${first}-${last}/${totalBytes}`);
  return await reply
    .type('audio/wav')
    .headers({ 'accept-ranges': 'bytes', 'content-length': String(last - first + 1) })
    .header('content-disposition', `inline; filename="${key.split('/').at(-1)}"`)
    .send(request.method === 'HEAD' ? closeUnread(recording) : recording.stream);
}

/**
 * Parses a Range header. Malformed ranges and requests for several ranges are ignored, as the RFC allows: the response
 * is the whole recording.
 *
 * @see RFC 9110 section 14.2
 */
export function parseRange(header: string | undefined): ByteRange | undefined {
  const [, first, last, suffix] = ONE_RANGE.exec(header ?? '') ?? [];
  if (suffix !== undefined) return { suffixLength: Number(suffix) };
  if (first === undefined) return undefined;
  if (last === undefined || last === '') return { first: Number(first) };
  return Number(last) < Number(first) ? undefined : { first: Number(first), last: Number(last) };
}

/** Closes a recording that is not read, since HEAD sends no body. */
function closeUnread({ stream }: OpenRecording): Readable {
  stream.destroy();
  return Readable.from([]);
}
