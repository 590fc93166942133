import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { CallwayError, invalid } from '../../../base/errors.ts';
import type { ReceivedDocument } from '../../../knowledge/intake/documents.ts';
import type { App } from '../../app.ts';
import { createOnce } from '../../idempotency.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors } from '../../schemas.ts';
import { findKnowledgebase, knowledgebaseShape, requireKnowledgebaseId } from './knowledgeLookups.ts';
import { onBothFamilies } from './knowledgePaths.ts';

const PART = 'dataset';
const MAX_NAME_CHARACTERS = 255;
/** Forms have one part; some clients add a few fields of their own. */
const PART_LIMITS = { files: 1, fields: 16, parts: 17, fieldSize: 65_536, headerPairs: 32 } as const;

const form = z.object({ dataset: z.any().meta({ type: 'string', format: 'binary' }) });
const uploaded = z.object({ message: z.string(), success: z.boolean(), datasetId: z.string() });

interface Upload {
  readonly name: string;
  readonly document: ReceivedDocument;
}

/** A scope of its own, since only here a body may be a form, and no other type of it is 415. */
export async function datasetUploadRoutes(app: App, deps: HttpDeps): Promise<void> {
  await app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    await scope.register(multipart, {
      // One more than is taken, so that it is ours to say what is too much.
      limits: { ...PART_LIMITS, fileSize: deps.settings.maxUploadBytes + 1 },
      throwFileSizeLimit: false,
    });
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    // After the gate: only who may upload has the patience of an upload.
    scope.addHook('preHandler', (request, _reply, done) => {
      scope.bodyWatch.allowLong(request.raw);
      done();
    });
    onBothFamilies(
      '/knowledgebases/:knowledgebaseId/datasets',
      'write',
      ({ url, config, security, params }) => {
        scope.post(
          url,
          {
            config,
            // The form is read as it comes, and a path's parameters are texts anyhow: the schemas are for the document.
            validatorCompiler: () => (value) => ({ value }),
            schema: {
              ...about(
                'Knowledge',
                'Upload a dataset',
                'One file, in the part `dataset`. PDF, DOCX, PPTX, XLSX, HTML, Markdown, CSV, JSON or text, told by its content. It is cut and embedded afterwards: see the dataset’s `status`.',
              ),
              security,
              consumes: ['multipart/form-data'],
              params: params(knowledgebaseShape),
              body: form,
              response: { 201: uploaded, ...errors(409, 413) },
            },
          },
          (request, reply) => upload(deps, request, reply, request.params.knowledgebaseId),
        );
      },
    );
  });
}

async function upload(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply, knowledgebaseId: string) {
  requireKnowledgebaseId(knowledgebaseId);
  const knowledgebase = await findKnowledgebase(deps.storage.stores, request, knowledgebaseId);
  const { documents } = deps.knowledge;
  const { name, document } = await receive(deps, request);
  // Stands for the body, so that a repetition with another file is told from one with the same.
  request.body = { name, sha256: document.sha256 };
  const datasetId = deps.makeId();
  let isKept = false;
  try {
    const answer = await createOnce(deps, request, reply, { status: 201 }, async (stores) => {
      await stores.datasets.insert({
        id: datasetId,
        knowledgebaseId: knowledgebase.id,
        name,
        mimeType: document.mimeType,
        bytes: document.bytes,
        fileKey: document.fileKey,
        createdAt: new Date(deps.clock.now()).toISOString(),
      });
      return { message: 'Dataset uploaded; it is being processed', success: true, datasetId };
    });
    isKept = answer.datasetId === datasetId;
    if (isKept) await documents.begin(datasetId, keyOf(request).projectId);
    return answer;
  } finally {
    if (!isKept) await documents.discard(document.fileKey);
  }
}

/** @throws {CallwayError} 400 without the file, 413 when it is too large, 400 when it cannot be one of ours. */
async function receive(deps: HttpDeps, request: FastifyRequest): Promise<Upload> {
  if (!request.isMultipart()) {
    throw invalid('invalid_content_type', 'Send the file as multipart/form-data, in a part named dataset');
  }
  let received: Upload | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue;
      if (part.fieldname === PART) received = await receiveFile(deps, part);
      else part.file.resume();
    }
  } catch (error) {
    if (received) await deps.knowledge.documents.discard(received.document.fileKey);
    // Whoever still sends hears the answer only once all is sent.
    request.raw.unpipe().resume();
    throw asFormError(error);
  }
  if (!received) throw invalid('missing_file', 'The form must have a file in a part named dataset');
  return received;
}

async function receiveFile(deps: HttpDeps, part: MultipartFile): Promise<Upload> {
  const name = nameOf(part.filename);
  return { name, document: await deps.knowledge.documents.receive(part.file, name) };
}

/** Without folders, which some clients send too, and without what cannot be kept. */
function nameOf(fileName: string | undefined): string {
  const [last = ''] = (fileName ?? '').toWellFormed().split(/[/\\]/).slice(-1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = last.replace(/[\u0000-\u001f\u007f]/g, '').trim();
  return clean === '' ? 'dataset' : clean.slice(0, MAX_NAME_CHARACTERS).toWellFormed();
}

function asFormError(error: unknown): unknown {
  if (error instanceof CallwayError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'FST_FILES_LIMIT') return invalid('too_many_files', 'Send one file at a time');
  if (code.startsWith('FST_') || isBrokenForm(error)) {
    return invalid(
      'invalid_multipart',
      'The form cannot be read: it breaks off, or its parts are not in order',
    );
  }
  return error;
}

/** What the reader of forms throws has no code. */
function isBrokenForm(error: unknown): boolean {
  return (
    error instanceof Error && /multipart|boundary|part terminated|premature|malformed/i.test(error.message)
  );
}
