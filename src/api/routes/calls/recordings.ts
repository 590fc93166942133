import { Readable } from 'node:stream';
import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import {
  type ByteRange,
  type OpenRecording,
  RangeNotSatisfiableError,
} from '../../../calls/recording/recordingStore.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { errorResponse } from '../../schemas.ts';

/** A Range header of one range. */
const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/;
const ERROR_STATUSES = [400, 403, 404, 416, 500, 503] as const;
const audio = { content: { 'audio/wav': { schema: z.string().meta({ format: 'binary' }) } } };
/** Typed as plain objects, since a stream is sent, not a value of the schemas. */
const response: Record<string, object> = {
  200: { description: 'The recording.', ...audio },
  206: { description: 'The requested range.', ...audio },
  ...Object.fromEntries(ERROR_STATUSES.map((status) => [status, errorResponse])),
};

export function recordingRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/v1/recordings/:token',
    {
      config: { access: { kind: 'public' } },
      schema: {
        tags: ['Calls'],
        summary: 'Download a recording',
        description:
          'Stereo WAV: the caller on the left channel, the agent on the right. The link is `recordingUrl` in webhooks and in the session history; it needs no key and is valid for an hour. A request may ask for one byte range.',
        params: z.object({ token: z.string().describe('As in the link.') }),
        headers: z.looseObject({ range: z.string().optional(), 'if-range': z.string().optional() }),
        response,
      },
    },
    async (request, reply) => {
      if (deps.recordings === undefined) throw notFound('Recording');
      const key = deps.recordings.urls.verify(request.params.token);
      // There is no validator to compare If-Range with, so the whole recording is sent.
      const range = request.headers['if-range'] === undefined ? parseRange(request.headers.range) : undefined;
      const recording = await deps.recordings.store.open(key, range).catch((error: unknown) => {
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
      if (range !== undefined)
        reply.code(206).header('content-range', `bytes ${first}-${last}/${totalBytes}`);
      return await reply
        .type('audio/wav')
        .headers({ 'accept-ranges': 'bytes', 'content-length': String(last - first + 1) })
        .header('content-disposition', `inline; filename="${key.split('/').at(-1)}"`)
        .send(request.method === 'HEAD' ? closeUnread(recording) : recording.stream);
    },
  );
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

/** For HEAD, which sends no body. */
function closeUnread({ stream }: OpenRecording): Readable {
  stream.destroy();
  return Readable.from([]);
}
