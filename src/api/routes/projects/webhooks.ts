import { z } from 'zod';

import { webhookEventName } from '../../../agents/agentConfig.ts';
import { notFound } from '../../../base/errors.ts';
import type { App } from '../../app.ts';
import { audit } from '../../audit.ts';
import { createOnce } from '../../idempotency.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, listAnswer, listOf, pageQuery, projectParams } from '../../schemas.ts';

const manage: Access = { kind: 'manage' };

const delivery = z
  .object({
    deliveryId: z.string().describe('As in the header `webhook-id` and in the body.'),
    event: webhookEventName,
    sessionId: z.string(),
    url: z.string(),
    at: z.iso.datetime(),
    ok: z.boolean().describe('Whether the receiver answered 2xx.'),
    status: z.int().nullable().describe('The receiver’s answer; null when there was none.'),
    durationMs: z.number(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const previousValidUntil = z.iso
  .datetime()
  .nullable()
  .describe('Until then the secret before this one signs as well; null when none does.');
const secret = z.string().meta({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });

const signingSecret = z.object({ secret, previousValidUntil });
const rotatedSecret = z.object({
  secret: secret.nullable().describe('Null when the answer is a repetition.'),
  previousValidUntil,
});

export function webhookRoutes(app: App, deps: HttpDeps): void {
  const { webhookAdmin, storage } = deps;
  const base = '/v1/projects/:projectId';
  const requireProject = async (projectId: string) => {
    if (!(await storage.stores.projects.find(projectId))) throw notFound('Project');
  };

  app.get(
    `${base}/webhook-deliveries`,
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about(
          'Webhooks',
          'List the deliveries',
          'What was sent and how it was received; the latest first.',
        ),
        params: projectParams,
        querystring: pageQuery.extend({
          sessionId: sessionIdField.optional(),
          event: webhookEventName.optional(),
        }),
        response: { 200: listOf(delivery), ...errors() },
      },
    },
    async ({ params, query }) => {
      const { limit, offset, sessionId, event } = query;
      const filter = { ...(sessionId === undefined ? {} : { sessionId }), ...(event ? { event } : {}) };
      return listAnswer(await webhookAdmin.deliveries(params.projectId, filter, { limit, offset }), query);
    },
  );

  app.get(
    `${base}/webhook-secret`,
    {
      config: { access: manage },
      schema: {
        ...about(
          'Webhooks',
          'Get the signing secret',
          'Verifies the Standard Webhooks headers of deliveries.',
        ),
        params: projectParams,
        response: { 200: signingSecret, ...errors() },
      },
    },
    async ({ params }) => {
      await requireProject(params.projectId);
      return await webhookAdmin.secret(params.projectId);
    },
  );

  app.post(
    `${base}/webhook-secret/rotate`,
    {
      config: { access: manage },
      schema: {
        ...about('Webhooks', 'Rotate the signing secret', 'For 24 hours the old one signs as well.'),
        params: projectParams,
        response: { 200: rotatedSecret, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      await requireProject(projectId);
      const withoutSecrets = (body: z.infer<typeof rotatedSecret>) => ({ ...body, secret: null });
      return await createOnce<z.infer<typeof rotatedSecret>>(
        deps,
        request,
        reply,
        { status: 200, withoutSecrets },
        async (stores) => {
          const rotated = await webhookAdmin.rotate(projectId, stores.webhookSecrets);
          await audit(deps, stores, request, {
            action: 'webhook_secret.rotated',
            projectId,
            target: projectId,
          });
          return rotated;
        },
      );
    },
  );
}
