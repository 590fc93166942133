import { z } from 'zod';

import { MAX_TEMPLATE_CHARACTERS } from '../../../agents/pathway/liquid.ts';
import { jsonObjectSchema } from '../../../agents/pathway/schema/fields.ts';
import { renderTemplate, templatePaths } from '../../../agents/pathway/templates.ts';
import { CallwayError, invalid, notFound } from '../../../base/errors.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';

const body = z.strictObject({
  template: z
    .string()
    .max(MAX_TEMPLATE_CHARACTERS)
    .describe('Such as a prompt or a spoken text of the pathway.'),
  variables: jsonObjectSchema.default({}).describe('Those of the session.'),
});

const preview = z.object({
  text: z.string(),
  variables: z.array(z.string()).describe('What the template reads, such as `call.fromNumber`.'),
  missing: z
    .array(z.string())
    .describe('Those that were not given and rendered empty; of `a.b`, `a` where all of it is missing.'),
});

/** Renders a template as a turn would. */
export function templatePreviewRoute(
  app: App,
  { storage: { stores }, operations: { shares } }: HttpDeps,
): void {
  app.post(
    '/v1/projects/:projectId/templates/preview',
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about(
          'Agent',
          'Preview a template',
          'Fills the variables in, within the limits and in the time zone of the agent’s turns. Nothing is saved. 400 `template_error` says what is wrong, with its line and column.',
        ),
        params: projectParams,
        body,
        response: { 200: preview, ...errors('body') },
      },
    },
    async ({ params: { projectId }, body: { template, variables } }) => {
      const agent = await stores.agents.find(projectId);
      if (!agent) throw notFound('Agent');
      const share = shares.of(projectId);
      const missing: string[] = [];
      try {
        const text = renderTemplate(template, variables, {
          timeZone: agent.config.timezone ?? 'UTC',
          share,
          onMissing: (name) => missing.push(name),
        });
        return { text, variables: share.run(() => templatePaths(template)), missing };
      } catch (error) {
        if (!(error instanceof CallwayError) || error.code !== 'template_error') throw error;
        throw invalid(error.code, error.message, [{ path: '/template', message: error.message }]);
      }
    },
  );
}
