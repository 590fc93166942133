import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { requireQuota } from '../../../agents/accounts/quotas.ts';
import { CallwayError, invalid, notFound } from '../../../base/errors.ts';
import { zodDetails } from '../../../base/validation.ts';
import { mapPage } from '../../../base/values/page.ts';
import { requireCampaign } from '../../../campaigns/campaigns.ts';
import {
  type ContactImport,
  contactMapping,
  importResource,
  listedImport,
  MAX_SHOWN_ERRORS,
} from '../../../campaigns/imports/contactImport.ts';
import type { ReceivedDocument } from '../../../knowledge/intake/documents.ts';
import { audit } from '../../audit.ts';
import { csvLine } from '../../csv.ts';
import { acceptForms, cleanFileName, readForm } from '../../forms.ts';
import { idempotent } from '../../idempotency.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';
import { CAMPAIGNS_PATH } from './campaigns.ts';

const FILE_PART = 'file';
const ERRORS_AT_ONCE = 1_000;
const importParams = z.object({ importId: z.string() });

/** The answer to a file. */
export const importStarted = z.object({ importId: z.uuid() });

/** Registers the imports of projects, and those into the installation's do-not-call list. */
export function importRoutes(app: App, deps: HttpDeps): void {
  ownedImportRoutes(app, deps, {
    path: '/v1/projects/:projectId/contact-imports/:importId',
    access: { kind: 'project', scope: 'read' },
    params: importParams.extend(projectParams.shape),
  });
  ownedImportRoutes(app, deps, {
    path: '/v1/contact-imports/:importId',
    access: { kind: 'admin' },
    params: importParams,
  });
  app.get(
    `${CAMPAIGNS_PATH}/:campaignId/contact-imports`,
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about(
          'Campaigns',
          'List the imports',
          'Files that were sent as contacts of a campaign, newest first.',
        ),
        params: projectParams.extend({ campaignId: z.string() }),
        querystring: pageQuery,
        response: { 200: listOf(listedImport), ...errors() },
      },
    },
    async ({ params: { projectId, campaignId }, query }) => {
      const { campaigns, contactImports } = deps.storage.stores;
      const campaign = requireCampaign(await campaigns.find(projectId, campaignId));
      return listResponse(mapPage(await contactImports.list(campaign.id, query), shownImport), query);
    },
  );
}

interface OwnedImports {
  readonly path: string;
  readonly access: Access;
  readonly params: z.ZodType<{ importId: string; projectId?: string }>;
}

function ownedImportRoutes(app: App, deps: HttpDeps, { path, access, params }: OwnedImports): void {
  const { contactImports } = deps.storage.stores;
  const find = async ({ projectId = null, importId }: { importId: string; projectId?: string | null }) => {
    const found = await contactImports.find(projectId, importId);
    if (!found) throw notFound('Import');
    return found;
  };
  app.get(
    path,
    {
      config: { access },
      schema: {
        ...about('Campaigns', 'Get an import', 'Of contacts, or of numbers of a do-not-call list.'),
        params,
        response: { 200: importResource, ...errors() },
      },
    },
    async (request) => {
      const found = await find(request.params);
      return { ...shownImport(found), errors: await contactImports.errors(found.id, 0, MAX_SHOWN_ERRORS) };
    },
  );
  app.get(
    `${path}/errors`,
    {
      config: { access, isLong: true },
      schema: {
        ...about(
          'Campaigns',
          'Get the skipped rows of an import as CSV',
          'All of them, in the order of the file.',
        ),
        params,
        response: {
          200: { description: 'UTF-8, RFC 4180.', content: { 'text/csv': { schema: z.string() } } },
          ...errors(),
        } as Record<number, object>,
      },
    },
    async (request, reply) => {
      const { id } = await find(request.params);
      const lines = Readable.from(errorLines(deps, id), { objectMode: false });
      return await reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="errors.csv"')
        .send(lines);
    },
  );
}

async function* errorLines({ storage: { stores } }: HttpDeps, id: string): AsyncGenerator<string> {
  yield csvLine(['row', 'code', 'message']);
  for (let after = 0; ; ) {
    const found = await stores.contactImports.errors(id, after, ERRORS_AT_ONCE);
    if (found.length > 0) yield found.map(({ row, code, message }) => csvLine([row, code, message])).join('');
    after = found.at(-1)?.row ?? 0;
    if (found.length < ERRORS_AT_ONCE) return;
  }
}

function shownImport({ campaignId, reason, endedAt, ...found }: ContactImport): z.infer<typeof listedImport> {
  return {
    ...found,
    campaignId: campaignId ?? undefined,
    reason: reason ?? undefined,
    endedAt: endedAt ?? undefined,
  };
}

/** Registers routes that take JSON, validated as usual, or a form with a file. */
export async function withForms(app: App, deps: HttpDeps, routes: (scope: App) => void): Promise<void> {
  await app.register(async (scope: App) => {
    await acceptForms(scope, deps.settings.maxImportBytes);
    // After access control: only an authorized client may send slowly.
    scope.addHook('preHandler', async (request) => {
      if (request.isMultipart()) request.bodyTimeout?.allowUpload();
    });
    const { validatorCompiler, serializerCompiler } = app;
    if (!validatorCompiler || !serializerCompiler) throw new Error('the app has no compilers yet');
    scope.setSerializerCompiler(serializerCompiler);
    // The body of a form is read as a stream, by the handler.
    scope.setValidatorCompiler((route) => {
      const validate = validatorCompiler(route);
      return (value) =>
        route.httpPart === 'body' && (value === undefined || value === null) ? { value } : validate(value);
    });
    routes(scope);
  });
}

/**
 * Stores the file of a form, and starts its import.
 *
 * @param campaignId - Null for the do-not-call list of the project that the path names, else of the installation.
 * @throws {CallwayError} 400 `missing_file`, `invalid_mapping`, `unsupported_file`, 413 `file_too_large`.
 */
export async function startImport(
  deps: HttpDeps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  campaignId: string | null,
): Promise<z.infer<typeof importStarted>> {
  const { documents } = deps.knowledge;
  const { projectId = null } = request.params as Partial<z.infer<typeof projectParams>>;
  const { file, fields } = await readForm(
    request,
    FILE_PART,
    async (part) => {
      const name = cleanFileName(part.filename, 'contacts');
      const { maxImportBytes } = deps.settings;
      const document = await documents
        .receive(part.file, name, FILE_PART, maxImportBytes)
        .catch((error: unknown) => {
          throw isOfNoType(error) ? noTable() : error;
        });
      return { name, document };
    },
    ({ document }) => documents.discard(document.fileKey),
  );
  const { fileKey, bytes, sha256 } = file.document;
  const id = deps.makeId();
  let isStored = false;
  try {
    const fileType = tableType(file);
    const mapping = mappingOf(fields.get('mapping'));
    // Stands for the body in the fingerprint of the Idempotency-Key.
    request.body = { mapping, sha256 };
    const { importId } = await idempotent(deps, { request, reply, status: 202 }, async (stores) => {
      if (projectId !== null) await requireQuota(stores, projectId, 'storedBytes', bytes);
      const createdAt = new Date(deps.clock.now()).toISOString();
      await stores.contactImports.insert({
        id,
        projectId,
        campaignId,
        fileKey,
        fileType,
        mapping,
        createdAt,
      });
      const target = campaignId ?? id;
      await audit(deps, stores, request, {
        action: 'campaign.contacts_imported',
        projectId,
        target,
        details: { importId: id },
      });
      return { importId: id };
    });
    isStored = importId === id;
    if (isStored) await deps.calls.wakeImport(id);
    return { importId };
  } finally {
    if (!isStored) await documents.discard(fileKey);
  }
}

/** @throws {CallwayError} 400 `unsupported_file` */
function tableType({ name, document }: { name: string; document: ReceivedDocument }): 'csv' | 'xlsx' {
  const { type } = document;
  const isText = !['pdf', 'docx', 'pptx', 'xlsx'].includes(type);
  if (type === 'xlsx') return 'xlsx';
  if (type === 'csv' || type === 'text' || (isText && /\.(?:csv|tsv|txt)$/i.test(name))) return 'csv';
  throw noTable();
}

/** A document of a type that is not read at all is no table either. */
function isOfNoType(error: unknown): boolean {
  return error instanceof CallwayError && error.code === `${FILE_PART}_type_unsupported`;
}

function noTable(): CallwayError {
  const message = 'Send a table: CSV or XLSX';
  return invalid('unsupported_file', message, [{ path: `/${FILE_PART}`, message }]);
}

/** @throws {CallwayError} 400 `invalid_mapping` */
function mappingOf(text = '') {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    given = undefined;
  }
  const { data, error } = contactMapping.safeParse(given);
  if (data) return data;
  const wanted =
    'The part mapping must be JSON that names the columns by their headers, such as {"toNumber": "Phone"}';
  if (given === undefined) throw invalid('invalid_mapping', wanted, [{ path: '/mapping', message: wanted }]);
  const details = zodDetails(error).map(({ path, message }) => ({ path: `/mapping${path}`, message }));
  throw invalid('invalid_mapping', `${wanted}: ${details[0]?.message}`, details);
}
