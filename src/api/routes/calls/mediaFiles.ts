import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { requireQuota } from '../../../agents/accounts/quotas.ts';
import { CallwayError, invalid, notFound } from '../../../base/errors.ts';
import { MAX_MEDIA_BYTES, type MediaFile, mediaFile } from '../../../calls/holdMusic/mediaFile.ts';
import { audit } from '../../audit.ts';
import { acceptForms, cleanFileName, readForm } from '../../forms.ts';
import { idempotent } from '../../idempotency.ts';
import { OpenPerProject } from '../../openPerProject.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, listOf, listResponse, noContent, pageQuery, projectParams } from '../../schemas.ts';

const PATH = '/v1/projects/:projectId/media';
const READ = { access: { kind: 'project', scope: 'read' } } as const;
const WRITE = { access: { kind: 'project', scope: 'write' } } as const;
const FILE_PART = 'file';
const WAV_TYPES = ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'];
/**
 * The most uploads of one project on one node: each holds a multiple of its size in memory, and takes up to a second to
 * convert.
 */
const UPLOADS_AT_ONCE = 4;
const fileParams = projectParams.extend({ mediaId: z.string() });
const form = z.object({ [FILE_PART]: z.any().meta({ type: 'string', format: 'binary' }) });

interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
}

export async function mediaFileRoutes(app: App, deps: HttpDeps): Promise<void> {
  listRoute(app, deps);
  fileRoute(app, deps);
  removeRoute(app, deps);
  // A scope of its own: only here the body is a file.
  await app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    await acceptForms(scope, MAX_MEDIA_BYTES);
    limitUploads(scope);
    const raw = { parseAs: 'buffer', bodyLimit: MAX_MEDIA_BYTES } as const;
    scope.addContentTypeParser(WAV_TYPES, raw, (_request, body, done) => done(null, body));
    // After access control: only an authorized client may send slowly.
    scope.addHook('preHandler', async ({ bodyTimeout }) => bodyTimeout?.allowUpload());
    uploadRoute(scope, deps);
  });
}

/** Limits the uploads before a body is read. @throws {CallwayError} 429 `project_busy` */
function limitUploads(app: App): void {
  const open = new OpenPerProject(UPLOADS_AT_ONCE);
  app.addHook('preParsing', async (request, reply) => {
    const leave = open.enter(keyOf(request).projectId);
    if (!leave) throw tooManyUploads();
    reply.raw.once('close', leave);
  });
}

function tooManyUploads(): CallwayError {
  const message = `A project uploads ${UPLOADS_AT_ONCE} media files at once; send the others later`;
  return new CallwayError('rate_limited', 'project_busy', message, { retryAfterSeconds: 1 });
}

function uploadRoute(app: App, deps: HttpDeps): void {
  app.post(
    PATH,
    {
      config: { ...WRITE, isLong: true },
      // The file is read as it is; the schemas only serve the OpenAPI document.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        ...about(
          'Calls',
          'Upload a media file',
          'Music for callers who wait, as `holdMusic: {mediaId}` of transfers: a WAV file of 16-bit PCM, mono or stereo, 8 to 48 kHz, at most 10 MiB; in the part `file` of a form, or as the body with `Content-Type: audio/wav` and its name as `?name=`. It is played at telephone quality, again and again. Four at once: 429 `project_busy`.',
        ),
        consumes: ['multipart/form-data', 'audio/wav'],
        params: projectParams,
        querystring: z.object({ name: z.string().max(255).optional() }),
        body: form,
        response: { 201: mediaFile, ...errors(409, 413, 415) },
      },
    },
    (request, reply) => upload(deps, request, reply),
  );
}

async function upload(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply): Promise<MediaFile> {
  const { name, bytes } = await receive(request);
  const { projectId } = keyOf(request);
  const { fileKey, durationMs } = await deps.audio.mediaFiles.receive(bytes);
  // Stands for the body in the fingerprint of the Idempotency-Key.
  request.body = { name, bytes: bytes.length, sha256: await digestOf(bytes) };
  const id = deps.makeId();
  let isStored = false;
  try {
    const file = await idempotent(deps, { request, reply, status: 201 }, async (stores) => {
      await requireQuota(stores, projectId, 'mediaFiles');
      await requireQuota(stores, projectId, 'storedBytes', bytes.length);
      const createdAt = new Date(deps.clock.now()).toISOString();
      const created = { id, name, bytes: bytes.length, durationMs, createdAt };
      await stores.mediaFiles.insert(projectId, created, fileKey);
      await audit(deps, stores, request, {
        action: 'media_file.created',
        projectId,
        target: id,
        details: { name },
      });
      return created;
    });
    isStored = file.id === id;
    return file;
  } finally {
    if (!isStored) await deps.audio.mediaFiles.discard(fileKey);
  }
}

async function digestOf(bytes: Buffer): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

/** @throws {CallwayError} 400 without a file, 413 when it is too large. */
async function receive(request: FastifyRequest): Promise<Upload> {
  const { name } = request.query as { readonly name?: string };
  if (Buffer.isBuffer(request.body)) return { name: cleanFileName(name, 'music.wav'), bytes: request.body };
  if (!request.isMultipart()) throw invalid('missing_file', 'Send a WAV file as audio/wav, or in a form');
  const { file } = await readForm(request, FILE_PART, async (part) => {
    const bytes = await part.toBuffer();
    if (bytes.length > MAX_MEDIA_BYTES) throw tooLarge();
    return { name: cleanFileName(name ?? part.filename, 'music.wav'), bytes };
  });
  return file;
}

function tooLarge(): CallwayError {
  return new CallwayError('too_large', 'file_too_large', `The file has more than ${MAX_MEDIA_BYTES} bytes`);
}

function listRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: READ,
      schema: {
        ...about('Calls', 'List the media files', 'Oldest first.'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(mediaFile), ...errors() },
      },
    },
    async ({ params, query }) => listResponse(await stores.mediaFiles.list(params.projectId, query), query),
  );
}

function fileRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    `${PATH}/:mediaId`,
    {
      config: READ,
      schema: {
        ...about('Calls', 'Get a media file'),
        params: fileParams,
        response: { 200: mediaFile, ...errors() },
      },
    },
    async ({ params }) => {
      const file = await stores.mediaFiles.find(params.projectId, params.mediaId);
      if (!file) throw notFound('Media file');
      const { fileKey: _, ...shown } = file;
      return shown;
    },
  );
}

function removeRoute(app: App, deps: HttpDeps): void {
  app.delete(
    `${PATH}/:mediaId`,
    {
      config: WRITE,
      schema: {
        ...about(
          'Calls',
          'Delete a media file',
          'Calls that play it go on; transfers that name it later play the built-in music.',
        ),
        params: fileParams,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const { projectId, mediaId } = request.params;
      await deps.storage.transaction(async (stores) => {
        if (!(await stores.mediaFiles.remove(projectId, mediaId))) throw notFound('Media file');
        await audit(deps, stores, request, { action: 'media_file.deleted', projectId, target: mediaId });
      });
      return await reply.code(204).send(null);
    },
  );
}
