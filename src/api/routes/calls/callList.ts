import { Readable } from 'node:stream';
import { z } from 'zod';

import { omitUndefined } from '../../../base/omitUndefined.ts';
import { CALL_STATUSES } from '../../../calls/call.ts';
import { type CallResource, callResource } from '../../../calls/callResource.ts';
import type { CallFilter } from '../../../calls/callStore.ts';
import { csvLine } from '../../csv.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import {
  about,
  errors,
  flag,
  listOf,
  listResponse,
  MAX_LIST_LIMIT,
  MAX_SEARCH_CHARACTERS,
  moment,
  pageQuery,
  projectParams,
  requireOrder,
} from '../../schemas.ts';
import { CALLS_PATH, showCalls } from './calls.ts';

const SEARCH = { access: { kind: 'project', scope: 'read' }, isSearch: true } as const;
/** A spreadsheet has not many more rows. */
const MAX_EXPORTED = 1_000_000;

const filters = z.object({
  direction: z.enum(['outbound', 'inbound']).optional(),
  status: z.enum(CALL_STATUSES).optional(),
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
  q: z
    .string()
    .min(1)
    .max(MAX_SEARCH_CHARACTERS)
    .optional()
    .describe('Words that were said in the call, by either side.'),
  includeTests: flag.optional().describe('Whether the calls of test runs are among them.'),
});

const COLUMNS: readonly (readonly [title: string, value: (call: CallResource) => unknown])[] = [
  ['id', ({ id }) => id],
  ['sessionId', ({ sessionId }) => sessionId],
  ['direction', ({ direction }) => direction],
  ['status', ({ status }) => status],
  ['endReason', ({ endReason }) => endReason],
  ['fromNumber', ({ fromNumber }) => fromNumber],
  ['toNumber', ({ toNumber }) => toNumber],
  ['createdAt', ({ createdAt }) => createdAt],
  ['startedAt', ({ startedAt }) => startedAt],
  ['answeredAt', ({ answeredAt }) => answeredAt],
  ['endedAt', ({ endedAt }) => endedAt],
  ['durationMs', ({ durationMs }) => durationMs],
  ['sipCode', ({ sip }) => sip?.code],
  ['sipReason', ({ sip }) => sip?.reason],
  ['trunkId', ({ trunkId }) => trunkId],
  ['answeringMachine', ({ answeringMachine }) => answeringMachine],
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
        ...about('Calls', 'List the calls', 'Newest first, for as long as the project keeps its history.'),
        params: projectParams,
        querystring: filters.extend(pageQuery.shape),
        response: { 200: listOf(callResource), ...errors() },
      },
    },
    async ({ params, query }) => {
      const { limit, offset, cursor, ...given } = query;
      const page = await deps.storage.stores.calls.list(params.projectId, filterOf(given), query);
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
          'The same calls in the same order, with a line of titles. A cell that a spreadsheet would take for a formula (its first character is one of `= + - @`, a tab or a line break) begins with an apostrophe.',
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
  yield csvLine(COLUMNS.map(([title]) => title));
  let cursor: string | undefined;
  for (let rows = 0; rows < MAX_EXPORTED; rows += MAX_LIST_LIMIT) {
    const page = await deps.storage.stores.calls.list(projectId, filter, {
      limit: MAX_LIST_LIMIT,
      offset: 0,
      cursor,
    });
    const calls = await showCalls(deps, page.items);
    yield calls.map((call) => csvLine(COLUMNS.map(([, value]) => value(call)))).join('');
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

function filterOf({ live, ...given }: z.output<typeof filters>): CallFilter {
  requireOrder(given);
  return omitUndefined({ ...given, isLive: live });
}
