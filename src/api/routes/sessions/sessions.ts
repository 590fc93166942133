import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import { releaseName } from '../../../base/values/releaseName.ts';
import { sessionData } from '../../../engine/session/session.ts';
import { sessionStarted } from '../../../engine/session/sessionEvents.ts';
import { idempotent } from '../../idempotency.ts';
import { LEGACY_PATHS, onBothPaths } from '../../legacyPaths.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { agentVersionHeaders, sessionIdField, wantsDraft } from '../../requestHeaders.ts';
import {
  about,
  cursor,
  DEFAULT_LIST_LIMIT,
  errors,
  MAX_LIST_LIMIT,
  MAX_OFFSET,
  pagination,
  paginationOf,
  projectParams,
} from '../../schemas.ts';

const MAX_PROVIDER_CHARACTERS = 255;
const sessionParams = projectParams.extend({ sessionId: sessionIdField });

const sessionInput = z
  .object({
    session_id: sessionIdField,
    variables: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Initial values; usable in the pathway.')
      .meta({ example: { name: 'Ada', guests: 2 } }),
    provider: z.string().max(MAX_PROVIDER_CHARACTERS).nullish().describe('A label; stored and shown.'),
  })
  .meta({ id: 'SessionInput' });

const sessionName = z.object({ session_id: sessionIdField }).meta({ id: 'SessionName' });

const createdSession = z.object({ sessionId: z.string(), pathwayId: z.string() });
const endedSession = z.object({ success: z.boolean(), sessionId: z.string(), message: z.string() });

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const data = z
  .looseObject({
    variables: z.record(z.string(), z.unknown()),
    messages: z.array(
      z.looseObject({
        role: z.enum(['user', 'assistant', 'tool']),
        content: z.string().nullable(),
        tool_calls: z.array(toolCall).optional(),
        tool_call_id: z.string().optional(),
        name: z.string().optional(),
      }),
    ),
    pathwayId: z.string(),
    release: releaseName.describe('The release that it runs on; `draft` for the working copy.'),
    currentNodeId: z.string().nullable().describe('Null before the first turn.'),
    channel: z.enum(['chat', 'phone', 'web']),
    provider: z.string().nullable(),
    status: z.literal('active'),
    callId: z.string().optional(),
    startedAt: z.iso.datetime(),
    lastActivityAt: z.iso.datetime(),
  })
  .meta({ id: 'SessionData' });

/** The longest search text; each of its characters is compared with every text of the project. */
const MAX_SEARCHED_CHARACTERS = 4_000;

const searchInput = z
  .object({
    search_string: z
      .string()
      .min(1)
      .max(MAX_SEARCHED_CHARACTERS)
      .describe('Case-sensitive, anywhere in the JSON of a message, or of the rest of the session’s data.')
      .meta({ example: 'Ada' }),
    limit: z.int().min(1).max(MAX_LIST_LIMIT).default(DEFAULT_LIST_LIMIT),
    offset: z.int().min(0).max(MAX_OFFSET).default(0),
    cursor: cursor.optional(),
  })
  .meta({ id: 'SessionSearch' });

const foundSessions = z.object({
  results: z.array(
    z.object({
      sessionId: z.string(),
      data: z.unknown().describe('Like `state` of a session.'),
      createdAt: z.iso.datetime(),
      updatedAt: z.iso.datetime(),
    }),
  ),
  pagination,
});

export function sessionRoutes(app: App, deps: HttpDeps): void {
  createRoute(app, deps);
  searchRoute(app, deps);
  stateRoute(app, deps);
  endRoute(app, deps);
  terminateRoute(app, deps);
}

function createRoute(app: App, deps: HttpDeps): void {
  onBothPaths(LEGACY_PATHS.createSession, ({ url, config, mark }) => {
    app.post(
      url,
      {
        config,
        schema: {
          ...about(
            'Sessions',
            'Create a session',
            'The id must not be that of a live session: 400 `session_id_in_use`.',
          ),
          ...mark,
          params: projectParams,
          headers: agentVersionHeaders,
          body: sessionInput,
          response: { 200: createdSession, ...errors('body', 409) },
        },
      },
      async (request, reply) => {
        const { session_id: sessionId, variables, provider } = request.body;
        // Outside the transaction: the embedded database runs one at a time, and preparing needs reads of its own.
        const { session, started } = await deps.sessions.conversations.prepare({
          projectId: request.params.projectId,
          sessionId,
          channel: 'chat',
          draft: wantsDraft(request),
          variables: variables ?? undefined,
          provider: provider ?? undefined,
        });
        let isNew = false;
        const sessionOf = async () => sessionId;
        const post = { request, reply, status: 200, sessionOf };
        const created = await idempotent(deps, post, async ({ sessions }) => {
          await sessions.insert(session, started);
          isNew = true;
          return { sessionId, pathwayId: session.pathwayId };
        });
        if (isNew) deps.sessions.liveEvents.publish(sessionStarted(session, started));
        return created;
      },
    );
  });
}

function searchRoute(app: App, deps: HttpDeps): void {
  onBothPaths(LEGACY_PATHS.searchSessions, ({ url, config, mark }) => {
    app.post(
      url,
      {
        config: { ...config, isSearch: true },
        schema: {
          ...about(
            'Sessions',
            'Search the live sessions',
            'Last changed first. A page ends before its sessions have more than 4,000,000 characters, and `nextCursor` goes on. A search that takes longer than 5 s is 503 `search_timeout`.',
          ),
          ...mark,
          params: projectParams,
          body: searchInput,
          response: { 200: foundSessions, ...errors('body') },
        },
      },
      async ({ params, body }) => {
        const { search_string: text, ...page } = body;
        const found = await deps.storage.stores.sessions.search(params.projectId, text, page);
        return { results: found.items, pagination: paginationOf(found, page) };
      },
    );
  });
}

function stateRoute(app: App, deps: HttpDeps): void {
  onBothPaths(LEGACY_PATHS.getSession, ({ url, config, mark }) => {
    app.get(
      url,
      {
        config: { ...config, isSearch: true },
        schema: {
          ...about('Sessions', 'Get a live session', 'Its variables and messages.'),
          ...mark,
          params: sessionParams,
          response: { 200: z.object({ sessionId: z.string(), state: data }), ...errors() },
        },
      },
      async ({ params }) => {
        const session = await deps.sessions.conversations.find(params.projectId, params.sessionId);
        if (!session) throw notFound('Session');
        const whole = await deps.sessions.conversations.withAllMessages(session);
        return { sessionId: session.sessionId, state: sessionData(whole) };
      },
    );
  });
}

function endRoute(app: App, { sessions: { conversations }, calls }: HttpDeps): void {
  onBothPaths(LEGACY_PATHS.endSession, ({ url, config, mark }) => {
    app.delete(
      url,
      {
        config,
        schema: {
          ...about(
            'Sessions',
            'End a session',
            'Deletes its variables and messages and hangs up its call. The response is a success even if the session was not live.',
          ),
          ...mark,
          params: projectParams,
          body: sessionName,
          response: { 200: endedSession, ...errors('body') },
        },
      },
      async ({ params, body }) => {
        const { projectId } = params;
        const { session_id: sessionId } = body;
        const session = await conversations.find(projectId, sessionId);
        const wasLive = await conversations.end(projectId, sessionId, 'api_end');
        // A call cannot continue without its session.
        if (session && session.callId !== null) await calls.control.hangUp(projectId, session.callId);
        return { success: true, sessionId, message: wasLive ? 'Session ended' : 'Session was not active' };
      },
    );
  });
}

function terminateRoute(app: App, { sessions: { conversations }, calls }: HttpDeps): void {
  app.post(
    '/v1/projects/:projectId/sessions/terminate',
    {
      config: { access: { kind: 'project', scope: 'write' } },
      schema: {
        ...about(
          'Sessions',
          'Terminate a session',
          'Hangs up its call and waits for the end, then ends the session.',
        ),
        params: projectParams,
        body: sessionName,
        response: { 200: endedSession, ...errors('body') },
      },
    },
    async ({ params, body }) => {
      const { projectId } = params;
      const { session_id: sessionId } = body;
      const session = await conversations.find(projectId, sessionId);
      if (!session) throw notFound('Session');
      if (session.callId !== null) await calls.control.hangUpAndWait(projectId, session.callId);
      // The end of the call may have ended the session already.
      await conversations.end(projectId, sessionId, 'api_terminate');
      return { success: true, sessionId, message: 'Session terminated' };
    },
  );
}
