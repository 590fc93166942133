import { z } from 'zod';

import { invalid, notFound } from '../../../base/errors.ts';
import { sessionFilterBody, toSessionFilter } from '../../../engine/history/sessionFilter.ts';
import { analysisResult, evaluationResult } from '../../../engine/history/sessionResults.ts';
import { analysisJob, MAX_JOB_SESSIONS } from '../../../results/analysis/analysisStore.ts';
import { idempotent } from '../../idempotency.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, moment, projectParams, requireOrder } from '../../schemas.ts';

const HISTORY = '/v1/projects/:projectId/session-history';
const WRITE = { kind: 'project', scope: 'write' } as const;

const span = z
  .strictObject({
    from: moment.describe('Sessions that started at this time or later; a date means its beginning in UTC.'),
    to: moment.optional().describe('Sessions that started before this time. Default: now.'),
    ...sessionFilterBody,
  })
  .meta({ id: 'AnalysisSpan', examples: [{ from: '2026-03-01', to: '2026-04-01', channel: 'phone' }] });

export function analysisRoutes(app: App, deps: HttpDeps): void {
  analyzeRoute(app, deps);
  startJobRoute(app, deps);
  jobRoute(app, deps);
}

function analyzeRoute(app: App, { sessions }: HttpDeps): void {
  app.post(
    `${HISTORY}/:sessionId/analyze`,
    {
      config: { access: WRITE, isLong: true },
      schema: {
        ...about(
          'Sessions',
          'Analyze a session again',
          'By `analysis` and `postEvaluationConfig` of the agent that callers get now; takes at most 60 s. An analysis that was done stays where the new one fails. 409 `session_active` before its end, `analysis_not_configured` where the agent asks for nothing.',
        ),
        params: projectParams.extend({ sessionId: sessionIdField }),
        response: {
          200: z.object({ analysis: analysisResult.optional(), evaluation: evaluationResult.optional() }),
          ...errors('body', 409),
        },
      },
    },
    async ({ params: { projectId, sessionId } }) =>
      await sessions.analyses.analyzeAgain(projectId, sessionId),
  );
}

function startJobRoute(app: App, deps: HttpDeps): void {
  const { sessions, clock, makeId } = deps;
  app.post(
    `${HISTORY}/analyze`,
    {
      config: { access: WRITE },
      schema: {
        ...about(
          'Sessions',
          'Analyze past sessions again',
          `The ended sessions of a span of time, as \`POST …/session-history/{sessionId}/analyze\` does, in the background; \`GET …/analysis-jobs/{jobId}\` has the progress. Those of tests are left out. 400 \`too_many_sessions\` for more than ${MAX_JOB_SESSIONS}.`,
        ),
        params: projectParams,
        body: span,
        response: { 202: z.object({ jobId: z.uuid() }), ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const { from, to = new Date(clock.now()).toISOString(), ...filter } = request.body;
      requireOrder({ from, to });
      await sessions.analyses.requireAnalyzing(projectId);
      const jobId = makeId();
      const started = await idempotent(deps, { request, reply, status: 202 }, async ({ analyses }) => {
        const createdAt = new Date(clock.now()).toISOString();
        const chosen = { from, to, ...toSessionFilter(filter) };
        const total = await analyses.insertJob({ id: jobId, projectId, createdAt }, chosen);
        if (total > MAX_JOB_SESSIONS) {
          const message = `More than ${MAX_JOB_SESSIONS} sessions are meant; give a shorter span`;
          throw invalid('too_many_sessions', message, [{ path: '/from', message }]);
        }
        return { jobId };
      });
      await sessions.analyses.wake(jobId);
      return started;
    },
  );
}

function jobRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    '/v1/projects/:projectId/analysis-jobs/:jobId',
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about('Sessions', 'Get the progress of an analysis', 'For 30 days.'),
        params: projectParams.extend({ jobId: z.string() }),
        response: { 200: analysisJob, ...errors() },
      },
    },
    async ({ params: { projectId, jobId } }) => {
      const job = await stores.analyses.findJob(projectId, jobId);
      if (!job) throw notFound('Job');
      return job;
    },
  );
}
