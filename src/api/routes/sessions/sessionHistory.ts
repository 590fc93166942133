import { z } from 'zod';

import { invalid, notFound } from '../../../base/errors.ts';
import { callResource } from '../../../calls/callResource.ts';
import type { HistoryDetail } from '../../../engine/session/sessionStore.ts';
import type { App } from '../../app.ts';
import type { HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, pageQuery, pagination, projectParams } from '../../schemas.ts';
import { showCalls } from '../calls/calls.ts';

const MAX_SEARCH_CHARACTERS = 500;
const BASE = '/v1/projects/:projectId/session-history';

const channel = z.enum(['chat', 'phone', 'web']);
const count = z.int();
const milliseconds = z.number();
const latency = z.object({ p50: milliseconds.nullable(), p95: milliseconds.nullable() });

/** A moment, or the beginning of a day, in UTC where no offset is given. */
const moment = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    '{field} must be a time such as 2026-01-31T09:30:00Z or a date such as 2026-01-31',
  )
  .transform((text) => new Date(text).toISOString());

const range = {
  from: moment.optional().describe('Sessions that began at this time or later.'),
  to: moment.optional().describe('Sessions that began before this time; a date is its beginning in UTC.'),
};

const summary = {
  sessionId: z.string(),
  channel,
  status: z.string().meta({ example: 'ended' }),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  callId: z.string().optional(),
};

const historyList = z.object({
  results: z.array(z.object({ ...summary, durationMs: milliseconds.nullable(), messageCount: count })),
  pagination,
});

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const message = z
  .object({
    role: z.enum(['user', 'assistant', 'tool']),
    content: z.string().nullable().describe('What was really said.'),
    at: z.iso.datetime(),
    nodeId: z.string().optional(),
    tool_calls: z.array(toolCall).optional(),
    tool_call_id: z.string().optional(),
    name: z.string().optional(),
    latencyMs: milliseconds
      .optional()
      .describe(
        'From the begin of the turn to the first words; on the phone, from the caller’s last voice to the agent’s first.',
      ),
    latencyParts: z
      .object({
        bufferMs: milliseconds,
        endpointingMs: milliseconds,
        transcriptionMs: milliseconds,
        answerMs: milliseconds,
        speechMs: milliseconds,
        playoutMs: milliseconds,
      })
      .optional()
      .describe('Where the time of a spoken answer went; the parts add up to latencyMs.'),
    interrupted: z.boolean().optional(),
    generatedText: z.string().optional().describe('All that the model wrote, where the customer got less.'),
  })
  .meta({ id: 'HistoryMessage' });

const transcript = z
  .looseObject({
    ...summary,
    variables: z.unknown(),
    messages: z.array(message),
    events: z.array(
      z.object({ type: z.string(), at: z.iso.datetime(), data: z.record(z.string(), z.unknown()) }),
    ),
    evaluation: z.unknown().optional().describe('How the session met the agent’s criteria.'),
    call: callResource.optional(),
    recording: callResource.shape.recording.unwrap().optional(),
  })
  .meta({ id: 'SessionTranscript' });

const stats = z
  .looseObject({
    total: count,
    byChannel: z.record(z.string(), count),
    byStatus: z.record(z.string(), count),
    byDay: z.array(z.object({ day: z.iso.date(), sessions: count })),
    durationMs: z.object({ mean: milliseconds.nullable(), p95: milliseconds.nullable() }),
    turns: count,
    turnLatencyMs: latency,
    calls: z
      .object({
        total: count.describe('Calls that are over.'),
        answered: count,
        answerRate: z.number().nullable().describe('Answered of all, 0 to 1.'),
        turnLatencyMs: latency,
      })
      .describe('The same sessions’ calls.'),
  })
  .meta({ id: 'SessionStats' });

export function sessionHistoryRoutes(app: App, deps: HttpDeps): void {
  const { history } = deps.storage.stores;
  const read = { access: { kind: 'project', scope: 'read' } } as const;

  app.get(
    BASE,
    {
      config: read,
      schema: {
        ...about('Sessions', 'List past and live sessions', 'As long as the project keeps its history.'),
        params: projectParams,
        querystring: pageQuery.extend({
          channel: channel.optional(),
          status: z.string().min(1).optional(),
          ...range,
          q: z.string().min(1).max(MAX_SEARCH_CHARACTERS).optional().describe('Found in the messages.'),
        }),
        response: { 200: historyList, ...errors() },
      },
    },
    async ({ params, query }) => {
      const { limit, offset, ...wanted } = query;
      requireOrder(wanted);
      const page = await history.list(params.projectId, withoutUndefined(wanted), { limit, offset });
      return { results: page.items, pagination: { limit, offset, total: page.total } };
    },
  );

  app.get(
    `${BASE}/stats`,
    {
      config: read,
      schema: {
        ...about('Sessions', 'Count past and live sessions'),
        params: projectParams,
        querystring: z.object(range),
        response: { 200: stats, ...errors() },
      },
    },
    async ({ params, query }) => {
      requireOrder(query);
      const found = await history.stats(params.projectId, withoutUndefined(query));
      return { ...found, byDay: [...found.byDay] };
    },
  );

  app.get(
    `${BASE}/:sessionId`,
    {
      config: read,
      schema: {
        ...about(
          'Sessions',
          'Get a transcript',
          'The messages and events of a session, live or past; where an id was used again, of its latest use.',
        ),
        params: projectParams.extend({ sessionId: sessionIdField }),
        response: { 200: transcript, ...errors() },
      },
    },
    async ({ params }) => {
      const found = await history.find(params.projectId, params.sessionId);
      if (!found) throw notFound('Session');
      return { ...toTranscript(found), ...(await callOf(deps, params.projectId, found)) };
    },
  );
}

async function callOf(deps: HttpDeps, projectId: string, { callId }: HistoryDetail) {
  const call = callId === undefined ? undefined : await deps.storage.stores.calls.find(projectId, callId);
  const [shown] = call ? await showCalls(deps, [call]) : [];
  if (!shown) return {};
  return { call: shown, ...(shown.recording ? { recording: shown.recording } : {}) };
}

/** Without what only the model's context needs. */
function toTranscript({ messages, events, ...rest }: HistoryDetail) {
  return {
    ...rest,
    messages: messages
      .filter(({ internal }) => !internal)
      .map(({ tool_calls, ...one }) => ({ ...one, ...(tool_calls ? { tool_calls: [...tool_calls] } : {}) })),
    events: [...events],
  };
}

function requireOrder({ from, to }: { from?: string | undefined; to?: string | undefined }): void {
  if (from === undefined || to === undefined || from <= to) return;
  const message = 'from must not be later than to';
  throw invalid('invalid_request', message, [{ path: '/from', message }]);
}

type Given<Filter> = { [Name in keyof Filter]?: Exclude<Filter[Name], undefined> };

function withoutUndefined<Filter extends object>(filter: Filter): Given<Filter> {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as Given<Filter>;
}
