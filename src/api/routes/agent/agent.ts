import { agentConfig, agentConfigPatch } from '../../../agents/agentConfig.ts';
import { updateAgent } from '../../../agents/updateAgent.ts';
import { isoNow } from '../../../base/clock.ts';
import { notFound } from '../../../base/errors.ts';
import type { App } from '../../app.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';

const URL = '/v1/projects/:projectId/agent';

export function agentRoutes(app: App, deps: HttpDeps): void {
  const now = isoNow(deps.clock);
  app.get(
    URL,
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about('Agent', 'Get the agent', 'The working copy, which callers get while it is published.'),
        params: projectParams,
        response: { 200: agentConfig, ...errors() },
      },
    },
    async ({ params }) => {
      const record = await deps.storage.stores.agents.find(params.projectId);
      if (!record) throw notFound('Agent');
      return record.config;
    },
  );

  for (const method of ['PUT', 'PATCH'] as const) {
    app.route({
      method,
      url: URL,
      config: { access: { kind: 'project', scope: 'write' } },
      schema: {
        ...about('Agent', 'Update the agent', 'PUT and PATCH are the same: only the supplied fields change.'),
        params: projectParams,
        body: agentConfigPatch,
        response: { 200: agentConfig, ...errors('body') },
      },
      handler: (request) =>
        deps.storage.transaction((stores) =>
          updateAgent(stores, deps.egressPolicy, request.params.projectId, request.body, now()),
        ),
    });
  }
}
