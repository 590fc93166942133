import { z } from 'zod';

import { sipRejection } from '../../../calls/trunks/sipRejection.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, pageQuery, projectParams } from '../../schemas.ts';

const querystring = pageQuery.pick({ limit: true });
const response = { 200: z.object({ data: z.array(sipRejection) }), ...errors() };

export function sipRejectionRoutes(app: App, { calls }: HttpDeps): void {
  app.get(
    '/v1/projects/:projectId/sip-rejections',
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about(
          'Trunks',
          'List refused inbound calls',
          'The latest 100 that came over the project’s trunks or called its numbers, the newest first. During a flood some are counted only.',
        ),
        params: projectParams,
        querystring,
        response,
      },
    },
    async ({ params, query }) => ({ data: await calls.rejections(params.projectId, query.limit) }),
  );
  app.get(
    '/v1/sip-rejections',
    {
      config: { access: { kind: 'admin' } },
      schema: {
        ...about(
          'Trunks',
          'List the refused inbound calls of the installation',
          'The latest 1,000, the newest first, those from unknown sources too. During a flood some are counted only.',
        ),
        querystring,
        response,
      },
    },
    async ({ query }) => ({ data: await calls.rejections(undefined, query.limit) }),
  );
}
