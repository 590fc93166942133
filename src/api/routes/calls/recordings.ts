import { Readable } from 'node:stream';
import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import { type OpenRecording, RangeNotSatisfiableError } from '../../../calls/recording/recordingStore.ts';
import type { App } from '../../app.ts';
import type { HttpDeps } from '../../ports.ts';
import { errorAnswer } from '../../schemas.ts';
import { parseRange } from './byteRange.ts';

const ERROR_STATUSES = [400, 403, 404, 416, 500, 503] as const;
const audio = { content: { 'audio/wav': { schema: z.string().meta({ format: 'binary' }) } } };
/** Not told apart by the compiler: bytes go out as they are. */
const response: Record<string, object> = {
  200: { description: 'The recording.', ...audio },
  206: { description: 'The range that was asked for.', ...audio },
  ...Object.fromEntries(ERROR_STATUSES.map((status) => [status, errorAnswer])),
};

export function recordingRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/v1/recordings/:token',
    {
      config: { access: { kind: 'public' } },
      schema: {
        tags: ['Calls'],
        summary: 'Hear a recording',
        description:
          'Stereo WAV, the caller left, the agent right. The link of `recordingUrl` in webhooks and in a session’s history; it needs no key and lives for an hour. One range of bytes can be asked for.',
        params: z.object({ token: z.string().describe('As in the link.') }),
        headers: z.looseObject({ range: z.string().optional(), 'if-range': z.string().optional() }),
        response,
      },
    },
    async (request, reply) => {
      if (deps.recordings === undefined) throw notFound('Recording');
      const key = deps.recordings.urls.verify(request.params.token);
      // Without a validator no part can be told to fit what the client already has.
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
        .send(request.method === 'HEAD' ? nothingOf(recording) : recording.stream);
    },
  );
}

/** The headers are all that is wanted: nothing is read. */
function nothingOf({ stream }: OpenRecording): Readable {
  stream.destroy();
  return Readable.from([]);
}
