import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { requireQuota } from '../../../agents/accounts/quotas.ts';
import { CallwayError, invalid } from '../../../base/errors.ts';
import type { ReceivedDocument } from '../../../knowledge/intake/documents.ts';
import { idempotent } from '../../idempotency.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors } from '../../schemas.ts';
import {
  findKnowledgebase,
  knowledgebaseShape,
  onKnowledgePaths,
  requireKnowledgebaseId,
} from './knowledgePaths.ts';

const FILE_PART = 'dataset';
const MAX_NAME_CHARACTERS = 255;
/** A form has one part; some clients add a few fields of their own. */
const PART_LIMITS = { files: 1, fields: 16, parts: 17, fieldSize: 65_536, headerPairs: 32 } as const;

const form = z.object({ dataset: z.any().meta({ type: 'string', format: 'binary' }) });
const uploaded = z.object({ message: z.string(), success: z.boolean(), datasetId: z.string() });

interface Upload {
  readonly name: string;
  readonly document: ReceivedDocument;
}

/** A scope of its own: only here the body is a form, and no content type is 415. */
export async function datasetUploadRoutes(app: App, deps: HttpDeps): Promise<void> {
  await app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    await scope.register(multipart, {
      // One byte more than allowed, so that the size check is ours.
      limits: { ...PART_LIMITS, fileSize: deps.settings.maxUploadBytes + 1 },
      throwFileSizeLimit: false,
    });
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    // After access control: only an authorized client may send slowly.
    scope.addHook('preHandler', async ({ bodyTimeout }) => bodyTimeout?.allowUpload());
    uploadRoute(scope, deps);
  });
}

function uploadRoute(app: App, deps: HttpDeps): void {
  onKnowledgePaths(
    '/knowledgebases/:knowledgebaseId/datasets',
    'write',
    ({ url, config, security, params }) => {
      app.post(
        url,
        {
          config: { ...config, isLong: true },
          // The form is read as a stream; the schemas only serve the OpenAPI document.
          validatorCompiler: () => (value) => ({ value }),
          schema: {
            ...about(
              'Knowledge',
              'Upload a dataset',
              'One file, in the part `dataset`: PDF, DOCX, PPTX, XLSX, HTML, mail (EML, MHT), Markdown, CSV, JSON or text, detected from its content. It is chunked and embedded afterwards; see the dataset’s `status`.',
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
}

async function upload(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply, knowledgebaseId: string) {
  requireKnowledgebaseId(knowledgebaseId);
  const knowledgebase = await findKnowledgebase(deps.storage.stores, request, knowledgebaseId);
  const { documents } = deps.knowledge;
  const { projectId } = keyOf(request);
  const { name, document } = await receive(deps, request);
  // Stands for the body in the fingerprint of the Idempotency-Key.
  request.body = { name, sha256: document.sha256 };
  const datasetId = deps.makeId();
  let isStored = false;
  try {
    const response = await idempotent(deps, { request, reply, status: 201 }, async (stores) => {
      await requireQuota(stores, projectId, 'documents');
      await requireQuota(stores, projectId, 'storedBytes', document.bytes);
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
    isStored = response.datasetId === datasetId;
    if (isStored) await documents.wake(datasetId);
    return response;
  } finally {
    if (!isStored) await documents.discard(document.fileKey);
  }
}

/** @throws {CallwayError} 400 without a usable file, 413 when it is too large. */
async function receive(deps: HttpDeps, request: FastifyRequest): Promise<Upload> {
  if (!request.isMultipart()) {
    throw invalid('invalid_content_type', 'Send the file as multipart/form-data, in a part named dataset');
  }
  let received: Upload | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue;
      if (part.fieldname === FILE_PART) received = await receiveFile(deps, part);
      else part.file.resume();
    }
  } catch (error) {
    if (received) await deps.knowledge.documents.discard(received.document.fileKey);
    // Many clients read the response only after they have sent the whole body.
    request.raw.unpipe().resume();
    throw toFormError(error);
  }
  if (!received) throw invalid('missing_file', 'The form must have a file in a part named dataset');
  return received;
}

async function receiveFile(deps: HttpDeps, part: MultipartFile): Promise<Upload> {
  const name = cleanFileName(part.filename);
  return { name, document: await deps.knowledge.documents.receive(part.file, name) };
}

/** Drops folders, which some clients send, and control characters, which cannot be stored. */
export function cleanFileName(fileName: string | undefined, otherwise = 'dataset'): string {
  const [last = ''] = (fileName ?? '').toWellFormed().split(/[/\\]/).slice(-1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  const clean = last.replace(/[\u0000-\u001f\u007f]/g, '').trim();
  return clean === '' ? otherwise : clean.slice(0, MAX_NAME_CHARACTERS).toWellFormed();
}

/** An error of reading a form, as its sender is told. */
export function toFormError(error: unknown): unknown {
  if (error instanceof CallwayError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'FST_FILES_LIMIT') return invalid('too_many_files', 'Send one file at a time');
  if (code.startsWith('FST_') || isMalformedForm(error)) {
    return invalid('invalid_multipart', 'The form cannot be read: it is incomplete or malformed');
  }
  return error;
}

/** The multipart parser's errors have no code. */
function isMalformedForm(error: unknown): boolean {
  return (
    error instanceof Error && /multipart|boundary|part terminated|premature|malformed/i.test(error.message)
  );
}
