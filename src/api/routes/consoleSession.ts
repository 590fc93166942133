import { z } from 'zod';

import { scope } from '../../agents/accounts/apiKey.ts';
import { invalidCredential } from '../plugins/accessControl.ts';
import {
  clearConsoleCookie,
  consoleCookieOf,
  requireConsoleHeader,
  setConsoleCookie,
} from '../plugins/consoleCookie.ts';
import type { App, HttpDeps } from '../ports.ts';
import { errors } from '../schemas.ts';
import { requireAllowed } from '../sourceLimits.ts';

const PATH = '/console/session';
const tags = ['Console'];
/** The most sign-ins of a project: each console session is kept for hours. */
const SIGN_INS_PER_MINUTE = 60;

const signIn = z.strictObject({
  token: z.string().min(1).max(512).describe('The operator’s token, or a key of a project.'),
});
const shownSession = z.object({
  kind: z.enum(['operator', 'project', 'none']),
  projectId: z.string().optional().describe('Of a key.'),
  scopes: z.array(scope).optional().describe('Absent without a session.'),
});

/** Sign-in of a browser: its cookie authenticates requests to `/v1` as the token would. */
export function consoleSessionRoutes(app: App, deps: HttpDeps): void {
  const {
    access: { consoleSessions, authenticator, rateLimiter },
    settings,
  } = deps;
  if (settings.hasConsole === false) return;
  app.post(
    PATH,
    {
      schema: {
        tags,
        summary: 'Sign in',
        description: `Sets the cookie \`callway_session\` for 12 hours. Requests that change something need the header \`X-Callway-Console: 1\` beside it. An operator’s session works in every project; routes that name none take the header \`X-Callway-Project\`. The keys of a project sign in ${SIGN_INS_PER_MINUTE} times a minute at most.`,
        body: signIn,
        response: { 204: z.null(), ...errors('body', 401) },
      },
    },
    async (request, reply) => {
      const { token } = request.body;
      const principal = await app.authenticate(request, token);
      if (principal.kind === 'widget') throw invalidCredential();
      if (principal.kind !== 'admin')
        requireAllowed(
          'sign-ins of this project',
          await rateLimiter.take(`sign-in:${principal.projectId}`, SIGN_INS_PER_MINUTE),
        );
      await consoleSessions.start(setConsoleCookie(reply, settings.publicUrl()), token);
      return await reply.code(204).send(null);
    },
  );
  app.get(
    PATH,
    {
      schema: {
        tags,
        summary: 'Show who is signed in',
        response: { 200: shownSession, ...errors() },
      },
    },
    async (request) => {
      const id = consoleCookieOf(request);
      const token = id && (await consoleSessions.find(id));
      const principal = token && (await authenticator.authenticate(token));
      if (!principal) return { kind: 'none' as const };
      if (principal.kind === 'admin') return { kind: 'operator' as const, scopes: [...scope.options] };
      return { kind: 'project' as const, projectId: principal.projectId, scopes: [...principal.scopes] };
    },
  );
  app.delete(
    PATH,
    {
      schema: {
        tags,
        summary: 'Sign out',
        description: 'The cookie is not valid any more, on all nodes.',
        response: { 204: z.null(), ...errors(403) },
      },
    },
    async (request, reply) => {
      const id = consoleCookieOf(request);
      if (id !== undefined) {
        requireConsoleHeader(request);
        await consoleSessions.end(id);
      }
      clearConsoleCookie(reply, settings.publicUrl());
      return await reply.code(204).send(null);
    },
  );
}
