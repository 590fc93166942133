import { Readable } from 'node:stream';
import { z } from 'zod';

import { invalid } from '../../../base/errors.ts';
import { releaseParameter } from '../../../base/values/releaseName.ts';
import { CALL_STATUSES } from '../../../calls/call.ts';
import { type CallResource, callResource } from '../../../calls/callResource.ts';
import type { CallFilter, CallResults, ResultNames } from '../../../calls/callStore.ts';
import { MAX_EXTERNAL_ID_CHARACTERS } from '../../../calls/setup/outboundOrder.ts';
import { csvLine } from '../../csv.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import {
  about,
  commaList,
  errors,
  flag,
  listOf,
  listResponse,
  MAX_LIST_LIMIT,
  MAX_SEARCH_CHARACTERS,
  moment,
  outcomeFilters,
  pageQuery,
  projectParams,
  requireOrder,
} from '../../schemas.ts';
import { CALLS_PATH, showCalls } from './calls.ts';

const SEARCH = { access: { kind: 'project', scope: 'read' }, isSearch: true } as const;
/** A spreadsheet has not many more rows. */
const MAX_EXPORTED = 1_000_000;

/** Columns of each kind whose names the calls give. */
const MAX_NAMED_COLUMNS = 1_000;
const METADATA_FILTER = 'metadata.';
const MAX_METADATA_FILTERS = 10;
const METADATA_FILTER_TEXT =
  'The parameter `metadata.<key>` finds the calls whose metadata has that value at that key: `metadata.order=4711` is the text or the number.';

const filters = z.looseObject({
  direction: z.enum(['outbound', 'inbound']).optional(),
  status: commaList(z.enum(CALL_STATUSES))
    .optional()
    .describe('One of these, separated by commas or repeated.')
    .meta({ example: 'queued,dialing,ringing,in_progress' }),
  live: flag.optional().describe('`true`: only calls that have not ended; `false`: only those that have.'),
  sessionId: sessionIdField.optional(),
  from: moment.optional().describe('Calls that were accepted at this time or later.'),
  to: moment.optional().describe('Calls that were accepted before this time; a date means its beginning.'),
  number: z
    .string()
    .regex(/^\+?\d{1,20}$/, 'number must be digits of a phone number')
    .optional()
    .describe('Digits that one of the numbers has.')
    .meta({ example: '912345' }),
  externalId: z.string().min(1).max(MAX_EXTERNAL_ID_CHARACTERS).optional().describe('As in the order.'),
  campaignId: z.uuid().optional().describe('Calls that this campaign has placed.'),
  ...outcomeFilters,
  violations: flag
    .optional()
    .describe('`true`: only calls that have violations; `false`: only those that have none.'),
  release: releaseParameter.optional().describe('Calls on this release: a number, or `draft`.'),
  q: z
    .string()
    .min(1)
    .max(MAX_SEARCH_CHARACTERS)
    .optional()
    .describe('Words that were said in the call, by either side.'),
  includeTests: flag.optional().describe('Whether the calls of test runs are among them.'),
});

type Column = readonly [title: string, value: (call: CallResource, results?: CallResults) => unknown];

const COLUMNS: readonly Column[] = [
  ['id', ({ id }) => id],
  ['sessionId', ({ sessionId }) => sessionId],
  ['direction', ({ direction }) => direction],
  ['status', ({ status }) => status],
  ['endReason', ({ endReason }) => endReason],
  ['fromNumber', ({ fromNumber }) => fromNumber],
  ['toNumber', ({ toNumber }) => toNumber],
  ['externalId', ({ externalId }) => externalId],
  ['campaignId', ({ campaignId }) => campaignId],
  ['contactId', ({ contactId }) => contactId],
  ['createdAt', ({ createdAt }) => createdAt],
  ['notBefore', ({ notBefore }) => notBefore],
  ['startedAt', ({ startedAt }) => startedAt],
  ['answeredAt', ({ answeredAt }) => answeredAt],
  ['endedAt', ({ endedAt }) => endedAt],
  ['durationMs', ({ durationMs }) => durationMs],
  ['sipCode', ({ sip }) => sip?.code],
  ['sipReason', ({ sip }) => sip?.reason],
  ['trunkId', ({ trunkId }) => trunkId],
  ['answeringMachine', ({ answeringMachine }) => answeringMachine],
  ['violations', ({ violations }) => violations.map(({ kind, id }) => `${kind}:${id}`).join(' ')],
  ['transferredTo', ({ transfer }) => (transfer?.outcome === 'joined' ? transfer.to : null)],
  ['turnLatencyP50Ms', ({ turnLatencyMs }) => turnLatencyMs.p50],
  ['turnLatencyP95Ms', ({ turnLatencyMs }) => turnLatencyMs.p95],
  ['codec', ({ mediaFigures }) => mediaFigures?.codec],
  ['packetsLost', ({ mediaFigures }) => mediaFigures?.packetsLost],
  ['shed', ({ mediaFigures }) => mediaFigures?.shed],
  ['concealedMs', ({ mediaFigures }) => mediaFigures?.concealedMs],
  ['underruns', ({ mediaFigures }) => mediaFigures?.underruns],
  ['jitterMs', ({ mediaFigures }) => mediaFigures?.jitterMs],
  ['jitterBufferMs', ({ mediaFigures }) => mediaFigures?.jitterBufferMs],
  ['mos', ({ mediaFigures }) => mediaFigures?.mos],
  ['recording', ({ recording }) => recording?.status],
  ['release', ({ release }) => release],
  ['cost', ({ cost }) => cost?.total],
  ['currency', ({ cost }) => cost?.currency],
  ['analysis.summary', ({ analysis }) => analysis?.summary],
  ['analysis.disposition', ({ disposition }) => disposition],
  ['analysis.success', ({ success }) => success],
  ['metadata', ({ metadata }) => (Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : null)],
];

export function callListRoutes(app: App, deps: HttpDeps): void {
  listRoute(app, deps);
  exportRoute(app, deps);
}

function listRoute(app: App, deps: HttpDeps): void {
  app.get(
    CALLS_PATH,
    {
      config: SEARCH,
      schema: {
        ...about(
          'Calls',
          'List the calls',
          `Newest first, for as long as the project keeps its history. ${METADATA_FILTER_TEXT}`,
        ),
        params: projectParams,
        querystring: filters.extend(pageQuery.shape),
        response: { 200: listOf(callResource), ...errors() },
      },
    },
    async ({ params, query }) => {
      const page = await deps.storage.stores.calls.list(params.projectId, filterOf(query), query);
      return listResponse({ ...page, items: await showCalls(deps, page.items) }, query);
    },
  );
}

function exportRoute(app: App, deps: HttpDeps): void {
  app.get(
    `${CALLS_PATH}/export`,
    {
      config: { ...SEARCH, isLong: true },
      schema: {
        ...about(
          'Calls',
          'Export the calls as CSV',
          `The same calls in the same order, with a line of titles. Columns \`metadata.<name>\`, \`variables.<name>\`, \`evaluation.<name>\` (whether the criterion was met, or its score) and \`analysis.data.<name>\` are those that these calls have, at most ${MAX_NAMED_COLUMNS} of each. A cell that a spreadsheet would take for a formula (its first character is one of \`= + - @\`, a tab or a line break, and it is no number) begins with an apostrophe. ${METADATA_FILTER_TEXT}`,
        ),
        params: projectParams,
        querystring: filters,
        response: {
          200: {
            description: 'UTF-8, RFC 4180.',
            content: { 'text/csv': { schema: z.string() } },
          },
          ...errors(),
        } as Record<number, object>,
      },
    },
    async ({ params, query }, reply) => {
      const lines = Readable.from(exported(deps, params.projectId, filterOf(query)), { objectMode: false });
      return await reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="calls.csv"')
        .send(lines);
    },
  );
}

/** Page by page, as fast as the client reads. */
async function* exported(deps: HttpDeps, projectId: string, filter: CallFilter): AsyncGenerator<string> {
  const { calls: store } = deps.storage.stores;
  const columns = [
    ...COLUMNS,
    ...namedColumns(await store.resultNames(projectId, filter, MAX_NAMED_COLUMNS)),
  ];
  yield csvLine(columns.map(([title]) => title));
  let cursor: string | undefined;
  for (let rows = 0; rows < MAX_EXPORTED; rows += MAX_LIST_LIMIT) {
    const page = await store.list(projectId, filter, {
      limit: MAX_LIST_LIMIT,
      offset: 0,
      cursor,
    });
    const results = await store.results(
      projectId,
      page.items.map(({ instanceId }) => instanceId),
    );
    const calls = await showCalls(deps, page.items);
    const lines = calls.map((call, index) => {
      const found = results.get(page.items[index]?.instanceId ?? '');
      return csvLine(columns.map(([, value]) => value(call, found)));
    });
    yield lines.join('');
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

function namedColumns({ metadata, variables, evaluation, data }: ResultNames): Column[] {
  return [
    ...metadata.map((name): Column => [`metadata.${name}`, (call) => cell(call.metadata[name])]),
    ...variables.map((name): Column => [`variables.${name}`, (_, results) => cell(results?.variables[name])]),
    ...evaluation.map((name): Column => [`evaluation.${name}`, (_, results) => results?.evaluation[name]]),
    ...data.map((name): Column => [`analysis.data.${name}`, ({ analysis }) => cell(analysis?.data?.[name])]),
  ];
}

function cell(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** @throws {CallwayError} 400 where a time range or a filter by metadata is wrong. */
function filterOf(query: z.output<typeof filters>): CallFilter {
  requireOrder(query);
  return { ...query, isLive: query.live, metadata: metadataFilter(query) };
}

function metadataFilter(query: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
  const given = Object.entries(query).filter(([name]) => name.startsWith(METADATA_FILTER));
  if (given.length === 0) return undefined;
  if (given.length > MAX_METADATA_FILTERS) {
    throw invalid('invalid_request', `At most ${MAX_METADATA_FILTERS} filters by metadata`);
  }
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (typeof value === 'string') return [name.slice(METADATA_FILTER.length), value];
      throw invalid('invalid_request', `${name} must be given once`);
    }),
  );
}
