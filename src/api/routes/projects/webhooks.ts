import { z } from 'zod';

import { webhookEventName } from '../../../agents/agentConfig.ts';
import { omitUndefined } from '../../../base/omitUndefined.ts';
import { milliseconds } from '../../../base/validation.ts';
import { audit } from '../../audit.ts';
import { idempotent } from '../../idempotency.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';
import { requireProjectExists } from './projects.ts';

const PATH = '/v1/projects/:projectId';
const MANAGE: Access = { kind: 'manage' };

const delivery = z
  .object({
    deliveryId: z.string().describe('Also in the header `webhook-id` and in the body.'),
    event: webhookEventName,
    sessionId: z.string(),
    url: z.string(),
    at: z.iso.datetime(),
    ok: z.boolean().describe('True when the receiver answered 2xx.'),
    status: z.int().nullable().describe('Status of the receiver’s response; null without a response.'),
    durationMs: milliseconds,
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const previousValidUntil = z.iso
  .datetime()
  .nullable()
  .describe('Until then deliveries are also signed with the previous secret; null when there is none.');
const secret = z.string().meta({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });

const signingSecret = z.object({ secret, previousValidUntil });
const rotatedSecret = z.object({
  secret: secret.nullable().describe('Null in a repeated response.'),
  previousValidUntil,
});
type RotatedSecret = z.infer<typeof rotatedSecret>;

export function webhookRoutes(app: App, deps: HttpDeps): void {
  deliveriesRoute(app, deps);
  secretRoute(app, deps);
  rotateRoute(app, deps);
}

function deliveriesRoute(app: App, { webhookAdmin }: HttpDeps): void {
  app.get(
    `${PATH}/webhook-deliveries`,
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about('Webhooks', 'List the deliveries', 'Each request and its outcome, newest first.'),
        params: projectParams,
        querystring: pageQuery.extend({
          sessionId: sessionIdField.optional(),
          event: webhookEventName.optional(),
        }),
        response: { 200: listOf(delivery), ...errors() },
      },
    },
    async ({ params, query }) => {
      const { limit, offset, cursor, ...filter } = query;
      const page = { limit, offset, cursor };
      const found = await webhookAdmin.deliveries(params.projectId, omitUndefined(filter), page);
      return listResponse(found, page);
    },
  );
}

function secretRoute(app: App, { webhookAdmin, storage: { stores } }: HttpDeps): void {
  app.get(
    `${PATH}/webhook-secret`,
    {
      config: { access: MANAGE },
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
    async ({ params: { projectId } }) => {
      await requireProjectExists(stores, projectId);
      return await webhookAdmin.secret(projectId);
    },
  );
}

function rotateRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${PATH}/webhook-secret/rotate`,
    {
      config: { access: MANAGE },
      schema: {
        ...about(
          'Webhooks',
          'Rotate the signing secret',
          'For 24 hours deliveries are also signed with the previous secret.',
        ),
        params: projectParams,
        response: { 200: rotatedSecret, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      await requireProjectExists(deps.storage.stores, projectId);
      const withoutSecrets = (body: RotatedSecret) => ({ ...body, secret: null });
      const post = { request, reply, status: 200, withoutSecrets };
      return await idempotent<RotatedSecret>(deps, post, async (stores) => {
        const rotated = await deps.webhookAdmin.rotate(projectId, stores.webhookSecrets);
        const change = { action: 'webhook_secret.rotated', projectId, target: projectId };
        await audit(deps, stores, request, change);
        return rotated;
      });
    },
  );
}
