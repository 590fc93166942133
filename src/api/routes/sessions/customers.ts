import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { actorOf } from '../../../agents/accounts/principal.ts';
import { type CustomerName, customer } from '../../../calls/customers/customer.ts';
import type { Author } from '../../../calls/customers/customers.ts';
import { type Access, principalOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, noContent, projectParams } from '../../schemas.ts';

const PATH = '/v1/projects/:projectId/customers/:customerKey';
const READ: Access = { kind: 'project', scope: 'read' };
const WRITE: Access = { kind: 'project', scope: 'write' };
const MAX_KEY_CHARACTERS = 255;

const params = projectParams.extend({
  customerKey: z
    .string()
    .trim()
    .min(1)
    .max(MAX_KEY_CHARACTERS)
    .describe('The E.164 number of calls, or `customerId` among the variables of sessions.')
    .meta({ example: '+886912345678' }),
});

export function customerRoutes(app: App, { sessions: { customers } }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: { access: READ },
      schema: {
        ...about(
          'Customers',
          'See what is kept of a person',
          'Of calls with this number and sessions with this id.',
        ),
        params,
        response: { 200: customer, ...errors() },
      },
    },
    async (request) => await customers.find(nameIn(request.params)),
  );
  app.delete(
    PATH,
    {
      config: { access: WRITE },
      schema: {
        ...about(
          'Customers',
          'Erase a person',
          'Erases memory, sessions, calls, recordings and recorded webhooks of a person, with an entry in the audit log. Live chats end without webhooks, and webhooks that are still due are not sent. 409 `customer_on_call` while a call of theirs is queued or in progress. May be repeated.',
        ),
        params,
        response: { 204: noContent, ...errors(409) },
      },
    },
    async (request, reply) => {
      await customers.erase(nameIn(request.params), authorOf(request));
      return await reply.code(204).send(null);
    },
  );
  app.delete(
    `${PATH}/memory`,
    {
      config: { access: WRITE },
      schema: {
        ...about('Customers', 'Delete what the agent remembers of a person', 'Sessions and calls are kept.'),
        params,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      await customers.removeMemory(nameIn(request.params), authorOf(request));
      return await reply.code(204).send(null);
    },
  );
}

function nameIn({ projectId, customerKey }: z.output<typeof params>): CustomerName {
  return { projectId, key: customerKey };
}

function authorOf(request: FastifyRequest): Author {
  return { actor: actorOf(principalOf(request)), requestId: request.id };
}
