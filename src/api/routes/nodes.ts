import { z } from 'zod';

import { nodeReport } from '../../calls/nodes/nodeReport.ts';
import type { App, HttpDeps } from '../ports.ts';
import { about, errors } from '../schemas.ts';

export function nodeRoutes(app: App, { operations: { nodeReports } }: HttpDeps): void {
  app.get(
    '/v1/nodes',
    {
      config: { access: { kind: 'admin' } },
      schema: {
        ...about(
          'Operations',
          'List the nodes of the installation',
          'What each running node does, in samples of 15 s over the last hour. A node that stopped or died disappears within a minute.',
        ),
        response: { 200: z.object({ data: z.array(nodeReport) }), ...errors() },
      },
    },
    async () => ({ data: [...(await nodeReports.list())] }),
  );
}
