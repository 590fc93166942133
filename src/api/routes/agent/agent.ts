import { actorOf } from '../../../agents/accounts/principal.ts';
import { agentConfig, agentConfigPatch, withoutSecrets } from '../../../agents/agentConfig.ts';
import { updateAgent } from '../../../agents/agents.ts';
import { requireValidAnalysis } from '../../../agents/analysisConfig.ts';
import { notFound } from '../../../base/errors.ts';
import { keyOf, maySeeSecrets } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';

const PATH = '/v1/projects/:projectId/agent';

export function agentRoutes(app: App, { storage, agents: { targetPolicy, schemas }, clock }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about('Agent', 'Get the agent', 'The working copy. Callers get it while it is published.'),
        params: projectParams,
        response: { 200: agentConfig, ...errors() },
      },
    },
    async (request) => {
      const { params } = request;
      const record = await storage.stores.agents.find(params.projectId);
      if (!record) throw notFound('Agent');
      return maySeeSecrets(request) ? record.config : withoutSecrets(record.config);
    },
  );
  for (const method of ['PUT', 'PATCH'] as const) {
    app.route({
      method,
      url: PATH,
      config: { access: { kind: 'project', scope: 'write' } },
      schema: {
        ...about('Agent', 'Update the agent', 'PUT and PATCH are the same: only the supplied fields change.'),
        params: projectParams,
        body: agentConfigPatch,
        response: { 200: agentConfig, ...errors('body') },
      },
      handler: async (request) => {
        const { params, body } = request;
        await requireValidAnalysis(schemas, params.projectId, body.analysis);
        const edit = { author: actorOf(keyOf(request)), at: new Date(clock.now()).toISOString() };
        return await storage.transaction((stores) =>
          updateAgent(stores, targetPolicy, params.projectId, body, edit),
        );
      },
    });
  }
}
