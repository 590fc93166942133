import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { requireQuota } from '../../../agents/accounts/quotas.ts';
import { invalid } from '../../../base/errors.ts';
import type { ReceivedDocument } from '../../../knowledge/intake/documents.ts';
import { acceptForms, cleanFileName, readForm } from '../../forms.ts';
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
    await acceptForms(scope, deps.settings.maxUploadBytes);
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
  const { documents } = deps.knowledge;
  const { file } = await readForm(
    request,
    FILE_PART,
    async (part) => {
      const name = cleanFileName(part.filename, 'dataset');
      return { name, document: await documents.receive(part.file, name, FILE_PART) };
    },
    ({ document }) => documents.discard(document.fileKey),
  );
  return file;
}
