import { Readable } from 'node:stream';
import { z } from 'zod';

import type { CostSum } from '../../../calls/callStore.ts';
import type { Campaign } from '../../../campaigns/campaign.ts';
import { requireCampaign } from '../../../campaigns/campaigns.ts';
import type { Contact, ContactOutcome, ContactResource } from '../../../campaigns/contact.ts';
import { shownContact } from '../../../campaigns/shown.ts';
import type { Analysis } from '../../../engine/history/sessionResults.ts';
import { sumOfCosts } from '../../../results/cost/costOf.ts';
import { csvLine } from '../../csv.ts';
import type { App, HttpDeps, Stores } from '../../ports.ts';
import { about, errors, MAX_LIST_LIMIT, projectParams } from '../../schemas.ts';
import { CAMPAIGNS_PATH } from './campaigns.ts';

const JSON_LINES = 'application/x-ndjson';
/** Names of variables that have a column. */
const MAX_NAMED_COLUMNS = 200;

const ANSWERED_BY: Partial<Record<ContactOutcome, string>> = {
  answered: 'human',
  machine: 'machine',
  screening: 'screening',
};

type Column = readonly [title: string, value: (row: ReportRow) => unknown];
const COLUMNS: readonly Column[] = [
  ['toNumber', ({ toNumber }) => toNumber],
  ['externalId', ({ externalId }) => externalId],
  ['status', ({ status }) => status],
  ['skipReason', ({ skipReason }) => skipReason],
  ['outcome', ({ outcome }) => outcome],
  ['answeredBy', ({ answeredBy }) => answeredBy],
  ['attempts', ({ attempts }) => attempts.length],
  ['lastAttemptAt', ({ attempts }) => attempts.at(-1)?.at],
  ['lastCallId', ({ attempts }) => attempts.at(-1)?.callId],
  ['endReason', ({ attempts }) => attempts.at(-1)?.endReason],
  ['durationMs', ({ durationMs }) => durationMs],
  ['cost', ({ cost }) => cost?.total],
  ['currency', ({ cost }) => cost?.currency],
  ['otherCosts', ({ cost }) => cost?.others?.map(({ total, currency }) => `${total} ${currency}`).join(', ')],
  ['nextAttemptAt', ({ nextAttemptAt }) => nextAttemptAt],
  ['disposition', ({ disposition }) => disposition],
  ['success', ({ success }) => success],
  ['analysis.summary', ({ analysis }) => analysis?.summary],
];

interface ReportRow extends ContactResource {
  readonly answeredBy: string | undefined;
  /** The talk time of all its calls. */
  readonly durationMs: number;
  /** The cost of all its calls, in the currency of the last one; undefined where none has one. */
  readonly cost: CostSum | undefined;
  /** The analysis of its last call. */
  readonly analysis: Analysis | undefined;
}

export function reportRoute(app: App, deps: HttpDeps): void {
  app.get(
    `${CAMPAIGNS_PATH}/:campaignId/report`,
    {
      config: { access: { kind: 'project', scope: 'read' }, isSearch: true, isLong: true },
      schema: {
        ...about(
          'Campaigns',
          'Get the report of a campaign',
          `A row a contact, in the order in which they came: CSV, or with \`Accept: ${JSON_LINES}\` JSON lines with all attempts. Columns \`variables.<name>\` are those that the contacts have, \`analysis.data.<name>\` those of the analyses of their calls, at most ${MAX_NAMED_COLUMNS} of each. A cell that a spreadsheet would take for a formula begins with an apostrophe.`,
        ),
        params: projectParams.extend({ campaignId: z.string() }),
        response: {
          200: {
            description: 'UTF-8.',
            content: { 'text/csv': { schema: z.string() }, [JSON_LINES]: { schema: z.string() } },
          },
          ...errors(),
        } as Record<number, object>,
      },
    },
    async ({ params: { projectId, campaignId }, headers }, reply) => {
      const campaign = requireCampaign(await deps.storage.stores.campaigns.find(projectId, campaignId));
      // The first that is named; JSON lines have several names.
      const isJson = headers.accept?.match(/csv|json/i)?.[0].toLowerCase() === 'json';
      const lines = isJson ? jsonLines(deps, campaign) : csvLines(deps, campaign);
      return await reply
        .type(isJson ? JSON_LINES : 'text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="report.${isJson ? 'ndjson' : 'csv'}"`)
        .send(Readable.from(lines, { objectMode: false }));
    },
  );
}

async function* jsonLines(deps: HttpDeps, campaign: Campaign): AsyncGenerator<string> {
  for await (const rows of pagesOf(deps, campaign))
    yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function* csvLines(deps: HttpDeps, campaign: Campaign): AsyncGenerator<string> {
  const { campaignContacts } = deps.storage.stores;
  const names = await campaignContacts.variableNames(campaign.id, MAX_NAMED_COLUMNS);
  const dataNames = await campaignContacts.dataNames(campaign.id, MAX_NAMED_COLUMNS);
  const named = names.map((name): Column => [`variables.${name}`, ({ variables }) => cell(variables[name])]);
  const data = dataNames.map(
    (name): Column => [`analysis.data.${name}`, ({ analysis }) => cell(analysis?.data?.[name])],
  );
  const columns = [...COLUMNS, ...named, ...data];
  yield csvLine(columns.map(([title]) => title));
  for await (const rows of pagesOf(deps, campaign))
    yield rows.map((row) => csvLine(columns.map(([, value]) => value(row)))).join('');
}

/** Reads the contacts page by page, as fast as the client reads. */
async function* pagesOf({ storage, clock }: HttpDeps, campaign: Campaign): AsyncGenerator<ReportRow[]> {
  let cursor: string | undefined;
  do {
    const page = await storage.stores.campaignContacts.list(
      campaign.id,
      {},
      { limit: MAX_LIST_LIMIT, offset: 0, cursor },
    );
    if (page.items.length > 0) {
      const { calls } = storage.stores;
      const callIds = page.items.flatMap(({ attempts }) => attempts.map(({ callId }) => callId));
      const costs = await calls.costs(campaign.projectId, callIds);
      const analyses = await lastAnalyses(storage.stores, campaign.projectId, page.items);
      yield page.items.map((contact) => {
        const analysis = analyses.get(contact.id);
        return { ...rowOf(shownContact(contact, campaign, clock.now(), analysis), costs), analysis };
      });
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function rowOf(contact: ContactResource, costs: ReadonlyMap<string, CostSum>): Omit<ReportRow, 'analysis'> {
  const { attempts, outcome } = contact;
  const durationMs = attempts.reduce((sum, attempt) => sum + (attempt.durationMs ?? 0), 0);
  const cost = sumOfCosts(attempts.flatMap(({ callId }) => costs.get(callId) ?? []));
  return { ...contact, answeredBy: outcome && ANSWERED_BY[outcome], durationMs, cost };
}

function cell(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** Returns what the analysis of each contact's last call says, by contact id. */
export async function lastAnalyses(
  { history }: Stores,
  projectId: string,
  contacts: readonly Contact[],
): Promise<Map<string, Analysis | undefined>> {
  const last = contacts.flatMap(({ id, attempts }) => {
    const callId = attempts.at(-1)?.callId;
    return callId === undefined ? [] : [{ id, callId }];
  });
  const analyses = await history.analyses(
    projectId,
    last.map(({ callId }) => callId),
  );
  return new Map(last.map(({ id, callId }) => [id, analyses.get(callId)]));
}
