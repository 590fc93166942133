import { z } from 'zod';

import { invalid, notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/values/page.ts';
import { MAX_EXTERNAL_ID_CHARACTERS } from '../../../calls/setup/outboundOrder.ts';
import { isOver } from '../../../campaigns/campaign.ts';
import { requireCampaign, wrongState } from '../../../campaigns/campaigns.ts';
import {
  CONTACT_OUTCOMES,
  CONTACT_STATUSES,
  contactInput,
  contactResource,
  MAX_CONTACTS_AT_ONCE,
  skippedRow,
} from '../../../campaigns/contact.ts';
import { listNumberReader } from '../../../campaigns/listNumber.ts';
import { shownContact, storedStatuses } from '../../../campaigns/shown.ts';
import { audit } from '../../audit.ts';
import { idempotent } from '../../idempotency.ts';
import type { App, HttpDeps } from '../../ports.ts';
import {
  about,
  errors,
  listOf,
  listResponse,
  noContent,
  outcomeFilters,
  pageQuery,
  projectParams,
} from '../../schemas.ts';
import { CAMPAIGNS_PATH } from './campaigns.ts';
import { importStarted, startImport, withForms } from './imports.ts';
import { lastAnalyses } from './report.ts';

const CONTACTS = `${CAMPAIGNS_PATH}/:campaignId/contacts`;
const READ = { access: { kind: 'project', scope: 'read' }, isSearch: true } as const;
const WRITE = { access: { kind: 'project', scope: 'calls' } } as const;
/** The most contacts, with a dozen variables each. */
const BODY_LIMIT_BYTES = 16 * 1024 ** 2;
const MAX_BODY_VALUES = 20 * MAX_CONTACTS_AT_ONCE;
const campaignParams = projectParams.extend({ campaignId: z.string() });
const contactParams = campaignParams.extend({ contactId: z.string() });

export async function contactRoutes(app: App, deps: HttpDeps): Promise<void> {
  await withForms(app, deps, (scope) => addRoute(scope, deps));
  listRoute(app, deps);
  removeRoute(app, deps);
}

function addRoute(app: App, deps: HttpDeps): void {
  app.post(
    CONTACTS,
    {
      config: { ...WRITE, maxJsonValues: MAX_BODY_VALUES, isLong: true },
      bodyLimit: BODY_LIMIT_BYTES,
      schema: {
        ...about(
          'Campaigns',
          'Add contacts',
          `At most ${MAX_CONTACTS_AT_ONCE} at once, also while the campaign runs. A row that cannot be called is skipped and told in \`skipped\`; the others are taken. 409 \`campaign_state\` once the campaign is completed or canceled, \`campaign_full\` beyond 1,000,000 contacts.

Or a form with a table in the part \`file\`, CSV or XLSX, and in the part \`mapping\` JSON that names its columns by their headers: \`{"toNumber": "Phone", "timezone": …, "externalId": …, "notBefore": …}\`; the other columns are variables, named in snake_case where needed. The answer is 202 with an \`importId\`.`,
        ),
        params: campaignParams,
        body: z.strictObject({ contacts: z.array(contactInput).min(1).max(MAX_CONTACTS_AT_ONCE) }).meta({
          id: 'NewContacts',
          examples: [
            { contacts: [{ toNumber: '0912 345 678', variables: { name: 'Ada' }, externalId: 'c-1' }] },
          ],
        }),
        response: {
          202: importStarted.describe('A file is being read.'),
          201: z.object({ accepted: z.int(), skipped: z.array(skippedRow) }),
          ...errors('body', 409, 413),
        },
      },
    },
    async (request, reply) => {
      const { projectId, campaignId } = request.params;
      const campaign = requireCampaign(await deps.storage.stores.campaigns.find(projectId, campaignId));
      if (isOver(campaign)) throw wrongState(campaign, 'takes no more contacts');
      if (request.isMultipart()) return await startImport(deps, { request, reply }, campaignId);
      if (!request.body) throw invalid('invalid_request', 'Send JSON with contacts, or a form with a file');
      const { contacts } = request.body;
      const rows = await deps.calls.campaigns.read(campaign, contacts);
      const added = await idempotent(deps, { request, reply, status: 201 }, async (stores) => {
        const skipped = await deps.calls.campaigns.add(stores, campaign, rows);
        const accepted = contacts.length - skipped.length;
        const details = { accepted, skipped: skipped.length };
        await audit(deps, stores, request, {
          action: 'campaign.contacts_added',
          projectId,
          target: campaign.id,
          details,
        });
        return { accepted, skipped };
      });
      await deps.calls.campaigns.wake(campaign);
      return added;
    },
  );
}

const filters = z.object({
  status: z.enum(CONTACT_STATUSES).optional(),
  outcome: z.enum(CONTACT_OUTCOMES).optional().describe('Of the last attempt.'),
  disposition: outcomeFilters.disposition,
  externalId: z.string().min(1).max(MAX_EXTERNAL_ID_CHARACTERS).optional(),
  toNumber: z
    .string()
    .max(64)
    // A plus sign that is not encoded arrives as a space.
    .transform((text) => text.replace(/^ /, '+'))
    .optional()
    .describe('In any notation in which the campaign takes it.'),
});

function listRoute(app: App, { clock, storage: { stores } }: HttpDeps): void {
  app.get(
    CONTACTS,
    {
      config: READ,
      schema: {
        ...about('Campaigns', 'List the contacts', 'In the order in which they came.'),
        params: campaignParams,
        querystring: filters.extend(pageQuery.shape),
        response: { 200: listOf(contactResource), ...errors() },
      },
    },
    async ({ params: { projectId, campaignId }, query }) => {
      const campaign = requireCampaign(await stores.campaigns.find(projectId, campaignId));
      const { status, outcome, disposition, externalId, toNumber } = query;
      const readNumber = listNumberReader(campaign.fromNumbers[0]);
      const filter = {
        status: status && storedStatuses(status, campaign),
        outcome,
        disposition,
        externalId,
        toNumber: toNumber && (readNumber(toNumber) ?? toNumber),
      };
      const page = await stores.campaignContacts.list(campaign.id, filter, query);
      const analyses = await lastAnalyses(stores, projectId, page.items);
      return listResponse(
        mapPage(page, (contact) => shownContact(contact, campaign, clock.now(), analyses.get(contact.id))),
        query,
      );
    },
  );
}

function removeRoute(app: App, deps: HttpDeps): void {
  app.delete(
    `${CONTACTS}/:contactId`,
    {
      config: WRITE,
      schema: {
        ...about(
          'Campaigns',
          'Remove a contact',
          'It is skipped with `skipReason` `removed`, and not called any more; a call in progress goes on. One that is done or skipped stays as it is.',
        ),
        params: contactParams,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const { projectId, campaignId, contactId } = request.params;
      const changed = await deps.storage.transaction(async (stores) => {
        const campaign = requireCampaign(await stores.campaigns.find(projectId, campaignId, 'for update'));
        const removed = await deps.calls.campaigns.removeContact(stores, campaign, contactId);
        if (!removed) throw notFound('Contact');
        const details = { contactId };
        const target = campaign.id;
        await audit(deps, stores, request, {
          action: 'campaign.contact_removed',
          projectId,
          target,
          details,
        });
        return campaign;
      });
      await deps.calls.campaigns.wake(changed);
      return await reply.code(204).send(null);
    },
  );
}
