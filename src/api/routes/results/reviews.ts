import { z } from 'zod';
import { actorOf } from '../../../agents/accounts/principal.ts';
import { reviewReason } from '../../../agents/accounts/reviewRules.ts';
import { CallwayError, invalid, notFound } from '../../../base/errors.ts';
import { type ReviewInput, review, reviewInput } from '../../../engine/history/review.ts';
import type { ReviewedSession } from '../../../results/reviews/reviewStore.ts';
import { principalOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';
import { historyRow } from '../sessions/sessionHistory.ts';

const sessionToReview = historyRow
  .extend({
    why: z
      .array(reviewReason)
      .describe('The rules of the project that have queued it; none of a session that a person chose.'),
    review: review.optional(),
  })
  .meta({ id: 'SessionToReview' });

export function reviewRoutes(app: App, deps: HttpDeps): void {
  listRoute(app, deps);
  reviewRoute(app, deps);
}

function listRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    '/v1/projects/:projectId/reviews',
    {
      config: { access: { kind: 'project', scope: 'read' }, isSearch: true },
      schema: {
        ...about(
          'Insights',
          'List sessions to review',
          'Those that `reviewRules` of the project have queued, or all that were reviewed, by when they began, newest first. A session is queued within 60 s of its end, or of its evaluation and analysis.',
        ),
        params: projectParams,
        querystring: pageQuery.extend({ status: z.enum(['open', 'done']).default('open') }),
        response: { 200: listOf(sessionToReview), ...errors() },
      },
    },
    async ({ params, query: { status, ...page } }) => {
      const found = await stores.reviews.list(params.projectId, status, page);
      const items = found.items.map((one) => ({ ...one, why: [...one.why] }));
      return listResponse({ ...found, items }, page);
    },
  );
}

function reviewRoute(app: App, deps: HttpDeps): void {
  app.post(
    '/v1/projects/:projectId/session-history/:sessionId/review',
    {
      config: { access: { kind: 'project', scope: 'write' } },
      schema: {
        ...about(
          'Insights',
          'Review a session',
          'A person’s verdict on an ended session, queued or not; it replaces an earlier one. If an id was used several times, on the latest session. 409 `session_active` before its end.',
        ),
        params: projectParams.extend({ sessionId: sessionIdField }),
        body: reviewInput.meta({
          id: 'NewReview',
          examples: [{ verdict: 'bad', note: 'Booked the wrong day.', labels: ['dates'] }],
        }),
        response: { 200: review, ...errors('body', 409) },
      },
    },
    async (request) => {
      const { projectId, sessionId } = request.params;
      const given = request.body;
      return await deps.storage.transaction(async (stores) => {
        const session = await stores.reviews.find(projectId, sessionId);
        if (!session) throw notFound('Session');
        requireFitting(session, given);
        const at = new Date(deps.clock.now()).toISOString();
        const saved = { ...given, at, by: actorOf(principalOf(request)) };
        await stores.reviews.save(session.instanceId, saved);
        return saved;
      });
    },
  );
}

/** @throws {CallwayError} 409 for a live session, 400 for a criterion without a verdict of the judge. */
function requireFitting({ status, evaluation }: ReviewedSession, { criteria = {} }: ReviewInput): void {
  if (status !== 'ended') throw new CallwayError('conflict', 'session_active', 'The session has not ended');
  const judged = (evaluation?.criteria ?? []).flatMap((one) => ('passed' in one ? [one.name] : []));
  const unknown = Object.keys(criteria).find((name) => !judged.includes(name));
  if (unknown === undefined) return;
  const known = judged.length === 0 ? 'none' : judged.join(', ');
  const message = `The evaluation of this session has no criterion ${unknown} that is met or not; it has ${known}`;
  throw invalid('invalid_request', message, [{ path: `/criteria/${unknown}`, message }]);
}
