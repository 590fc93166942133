import { z } from 'zod';
import { sessionCost } from '../../../agents/cost/rates.ts';
import { modelUsage, sessionUsage } from '../../../agents/cost/usage.ts';
import { notFound } from '../../../base/errors.ts';
import { milliseconds } from '../../../base/validation.ts';
import { omitUndefined } from '../../../base/values/omitUndefined.ts';
import { releaseName } from '../../../base/values/releaseName.ts';
import { callResource } from '../../../calls/callResource.ts';
import type { HistoryDetail } from '../../../engine/history/historyStore.ts';
import { review } from '../../../engine/history/review.ts';
import { sessionFilter } from '../../../engine/history/sessionFilter.ts';
import { analysisResult, evaluationResult } from '../../../engine/history/sessionResults.ts';
import { isShown } from '../../../engine/session/session.ts';
import { tokenCost } from '../../../results/cost/costOf.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import {
  about,
  errors,
  flag,
  MAX_SEARCH_CHARACTERS,
  moment,
  pageQuery,
  pagination,
  paginationOf,
  projectParams,
  requireOrder,
} from '../../schemas.ts';
import { showCalls } from '../calls/calls.ts';

const PATH = '/v1/projects/:projectId/session-history';

const READ = { access: { kind: 'project', scope: 'read' }, isSearch: true } as const;

const channel = z.enum(['chat', 'phone', 'web']);
const count = z.int();
const latency = z.object({ p50: milliseconds.nullable(), p95: milliseconds.nullable() });

const includeTests = flag.optional().describe('Whether the sessions of test runs are among them.');

const range = {
  from: moment.optional().describe('Sessions that started at this time or later.'),
  to: moment
    .optional()
    .describe('Sessions that started before this time; a date means its beginning in UTC.'),
};

const summary = {
  sessionId: z.string(),
  channel,
  release: releaseName.describe('The release that it ran on; `draft` for the working copy.'),
  status: z.string().meta({ example: 'ended' }),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  callId: z.string().optional(),
  disposition: z
    .string()
    .nullable()
    .describe('What its analysis says; null where that chose none, and without one.'),
  success: z.boolean().nullable().describe('What the disposition says of it.'),
  test: z.literal(true).optional().describe('Played by a test run.'),
  cost: sessionCost.nullable().describe('Null before the end, and where there were no rates.'),
};

export const historyRow = z.object({
  ...summary,
  durationMs: milliseconds.nullable(),
  messageCount: count,
});
const historyList = z.object({
  results: z.array(historyRow),
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
    content: z.string().nullable().describe('What was actually delivered.'),
    at: z.iso.datetime(),
    nodeId: z.string().optional(),
    tool_calls: z.array(toolCall).optional(),
    tool_call_id: z.string().optional(),
    name: z.string().optional(),
    latencyMs: milliseconds
      .optional()
      .describe(
        'From the start of the turn to the first words; on the phone, from the end of the caller’s speech to the start of the agent’s.',
      ),
    latencyParts: z
      .object({
        bufferMs: milliseconds,
        endpointingMs: milliseconds,
        transcriptionMs: milliseconds,
        answerMs: milliseconds,
        speechMs: milliseconds,
        playoutMs: milliseconds,
        preemptive: z
          .enum(['committed', 'canceled', 'none'])
          .optional()
          .describe(
            'Whether the answer was prepared before the end of the caller’s turn was sure; canceled: another one was, in vain.',
          ),
      })
      .optional()
      .describe('The parts of a spoken answer’s latency; the sum of their milliseconds is latencyMs.'),
    latencyDetails: z
      .object({
        modelMs: milliseconds
          .optional()
          .describe('Of `answerMs`: the model’s requests, until their tool calls or the first words.'),
        toolMs: milliseconds
          .optional()
          .describe('Of `answerMs`: the tools that ran before the first words, counted in no other share.'),
        sentenceMs: milliseconds
          .optional()
          .describe('Of `speechMs`: until the first sentence could be synthesized.'),
      })
      .optional()
      .describe('Shares of the parts; of an answer in writing, of `latencyMs`.'),
    speech: z
      .object({ recognition: z.string().optional(), synthesis: z.string().optional() })
      .optional()
      .describe(
        'The providers of a spoken message: `recognition` of the caller’s words, `synthesis` of the agent’s. `local` is the offline recognizer, which mishears more than the others.',
      ),
    spoken: z
      .object({ from: z.iso.datetime(), to: z.iso.datetime() })
      .optional()
      .describe('When it was said, from the first sound to the last; absent on what was written.'),
    interrupted: z.boolean().optional(),
    heard: z
      .enum(['estimated', 'reported'])
      .optional()
      .describe(
        'Set where the stream’s dialect does not report what was played: the words that were heard are estimated from the pacing, or reported by a client that truncated the answer.',
      ),
    generatedText: z.string().optional().describe('The whole text of the model, if less was delivered.'),
    usage: z
      .array(modelUsage)
      .optional()
      .describe('The tokens of the turn’s model requests, by model, where the endpoint reports them.'),
    cost: z
      .number()
      .optional()
      .describe(
        'Of `usage`, in the currency of the session’s cost; absent where that is null or a model has no rate.',
      ),
  })
  .meta({ id: 'HistoryMessage' });

export const transcript = z
  .looseObject({
    ...summary,
    variables: z.unknown(),
    messages: z.array(message),
    events: z.array(
      z.object({ type: z.string(), at: z.iso.datetime(), data: z.record(z.string(), z.unknown()) }),
    ),
    missingVariables: z
      .array(z.string())
      .optional()
      .describe('Names of the agent’s required variables that an ended session has no value of.'),
    evaluation: evaluationResult.optional().describe('The results of the agent’s criteria.'),
    analysis: analysisResult
      .optional()
      .describe('Absent where the agent asks for none, and until it is done or skipped.'),
    usage: sessionUsage,
    review: review.optional().describe('What a person says of it.'),
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
        total: count.describe('Calls that have ended.'),
        answered: count,
        answerRate: z.number().nullable().describe('Answered calls divided by all, 0 to 1.'),
        turnLatencyMs: latency,
      })
      .describe('The calls of these sessions.'),
  })
  .meta({ id: 'SessionStats' });

export function sessionHistoryRoutes(app: App, deps: HttpDeps): void {
  listRoute(app, deps);
  statsRoute(app, deps);
  transcriptRoute(app, deps);
}

function listRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: READ,
      schema: {
        ...about('Sessions', 'List past and live sessions', 'For as long as the project keeps its history.'),
        params: projectParams,
        querystring: pageQuery.extend({
          ...sessionFilter,
          status: z.string().min(1).optional(),
          ...range,
          q: z
            .string()
            .min(1)
            .max(MAX_SEARCH_CHARACTERS)
            .optional()
            .describe('Full-text search in the messages.'),
          includeTests,
        }),
        response: { 200: historyList, ...errors() },
      },
    },
    async ({ params, query }) => {
      const { limit, offset, cursor, ...filter } = query;
      requireOrder(filter);
      const page = { limit, offset, cursor };
      const found = await stores.history.list(params.projectId, omitUndefined(filter), page);
      return { results: found.items, pagination: paginationOf(found, page) };
    },
  );
}

function statsRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    `${PATH}/stats`,
    {
      config: READ,
      schema: {
        ...about('Sessions', 'Count past and live sessions'),
        params: projectParams,
        querystring: z.object(range),
        response: { 200: stats, ...errors() },
      },
    },
    async ({ params, query }) => {
      requireOrder(query);
      const found = await stores.history.stats(params.projectId, omitUndefined(query));
      return { ...found, byDay: [...found.byDay] };
    },
  );
}

function transcriptRoute(app: App, deps: HttpDeps): void {
  app.get(
    `${PATH}/:sessionId`,
    {
      config: READ,
      schema: {
        ...about(
          'Sessions',
          'Get a transcript',
          'The messages and events of a session, live or past. If an id was used several times, of the latest session.',
        ),
        params: projectParams.extend({ sessionId: sessionIdField }),
        response: { 200: transcript, ...errors() },
      },
    },
    async ({ params }) => {
      const found = await deps.storage.stores.history.find(params.projectId, params.sessionId);
      if (!found) throw notFound('Session');
      const shown = await toTranscript(deps, params.projectId, found);
      return { ...shown, ...(await callOf(deps, params.projectId, found)) };
    },
  );
}

async function callOf(deps: HttpDeps, projectId: string, { callId }: HistoryDetail) {
  const call = callId === undefined ? undefined : await deps.storage.stores.calls.find(projectId, callId);
  const [shown] = call ? await showCalls(deps, [call]) : [];
  if (!shown) return {};
  return { call: shown, recording: shown.recording ?? undefined };
}

/** Removes internal messages, which only the model's context needs, and prices the turns. */
export async function toTranscript(
  { storage: { stores } }: HttpDeps,
  projectId: string,
  { messages, events, missingVariables, ...rest }: HistoryDetail,
) {
  const { cost, endedAt } = rest;
  const rates = cost && endedAt !== null ? await stores.rates.at(projectId, endedAt) : undefined;
  return {
    ...rest,
    missingVariables: missingVariables && [...missingVariables],
    messages: messages.filter(isShown).map(({ tool_calls, usage, ...one }) => ({
      ...one,
      tool_calls: tool_calls && [...tool_calls],
      usage: usage && [...usage],
      cost: usage && rates && tokenCost(usage, rates),
    })),
    events: [...events],
  };
}
