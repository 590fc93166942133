import { z } from 'zod';
import { milliseconds } from '../../../base/validation.ts';
import { omitUndefined } from '../../../base/values/omitUndefined.ts';
import { deliveredEvent, webhookKind } from '../../../webhooks/deliveryStore.ts';
import { audit } from '../../audit.ts';
import { idempotent } from '../../idempotency.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';
import { requireProjectExists } from './projects.ts';

const PATH = '/v1/projects/:projectId';
const MANAGE: Access = { kind: 'manage' };

export const deliveryResource = z
  .object({
    deliveryId: z.string().describe('As in the header `webhook-id`.'),
    attempt: z.int().describe('From 1; each attempt is listed.'),
    webhook: webhookKind.describe('The field of the agent.'),
    event: deliveredEvent,
    sessionId: z.string().nullable().describe('Null for an event that belongs to no session.'),
    url: z.string(),
    at: z.iso.datetime(),
    ok: z.boolean().describe('True when the receiver answered 2xx.'),
    status: z.int().nullable().describe('Status of the receiver’s response; null without a response.'),
    durationMs: milliseconds,
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    answer: z
      .string()
      .nullable()
      .describe(
        'The beginning of the receiver’s answer, at most 2,000 characters; null where it was empty or no UTF-8 text, and in a project that keeps no history.',
      ),
  })
  .meta({ id: 'WebhookDelivery' });

const deliveryDetail = deliveryResource
  .extend({
    body: z.string().nullable().describe('As it was sent; null in a project that keeps no history.'),
  })
  .meta({ id: 'WebhookDeliveryDetail' });

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
  deliveryRoute(app, deps);
  redeliverRoute(app, deps);
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
          event: deliveredEvent.optional(),
          webhook: webhookKind.optional(),
        }),
        response: { 200: listOf(deliveryResource), ...errors() },
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

function deliveryRoute(app: App, { webhookAdmin }: HttpDeps): void {
  app.get(
    `${PATH}/webhook-deliveries/:deliveryId`,
    {
      config: { access: { kind: 'project', scope: 'read' } },
      schema: {
        ...about('Webhooks', 'Get a delivery', 'Its newest attempt, with the body.'),
        params: projectParams.extend({ deliveryId: z.string() }),
        response: { 200: deliveryDetail, ...errors() },
      },
    },
    ({ params }) => webhookAdmin.delivery(params.projectId, params.deliveryId),
  );
}

function redeliverRoute(app: App, deps: HttpDeps): void {
  const { webhookAdmin, storage } = deps;
  app.post(
    `${PATH}/webhook-deliveries/:deliveryId/redeliver`,
    {
      config: { access: { kind: 'project', scope: 'write' } },
      schema: {
        ...about(
          'Webhooks',
          'Send a delivery again',
          'The same body under the same `webhook-id`, to the address and with the headers that the agent has now. A live event is repeated as any other until it is received; an event of a session’s end is sent once more. 409 `delivery_body_not_kept` in a project that keeps no history.',
        ),
        params: projectParams.extend({ deliveryId: z.string() }),
        response: { 202: z.object({ deliveryId: z.string() }), ...errors(409) },
      },
    },
    async (request, reply) => {
      const { projectId, deliveryId } = request.params;
      await webhookAdmin.redeliver(projectId, deliveryId);
      const change = { action: 'webhook_delivery.redelivered', projectId, target: deliveryId } as const;
      await audit(deps, storage.stores, request, change);
      return await reply.code(202).send({ deliveryId });
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
        const change = { action: 'webhook_secret.rotated', projectId, target: projectId } as const;
        await audit(deps, stores, request, change);
        return rotated;
      });
    },
  );
}
