import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import { requireNumber } from '../../../calls/numbers/number.ts';
import { numberClaim, numberClaimPatch } from '../../../calls/numbers/numberClaim.ts';
import { audit } from '../../audit.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, listOf, listResponse, noContent, pageQuery } from '../../schemas.ts';

const PATH = '/v1/numbers';
const ADMIN = { access: { kind: 'admin' } } as const;
const params = z.object({ number: z.string().max(32).describe('E.164, or a Taiwan number in local form.') });

/** The operator's view of the numbers of all projects. */
export function numberRoutes(app: App, deps: HttpDeps): void {
  listRoute(app, deps);
  assignRoute(app, deps);
  removeRoute(app, deps);
}

function listRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: ADMIN,
      schema: {
        ...about('Trunks', 'List the numbers of all projects', 'With whose they are; pending claims too.'),
        querystring: pageQuery,
        response: { 200: listOf(numberClaim), ...errors() },
      },
    },
    async ({ query }) => listResponse(await stores.numberClaims.list(query), query),
  );
}

function assignRoute(app: App, deps: HttpDeps): void {
  app.patch(
    `${PATH}/:number`,
    {
      config: ADMIN,
      schema: {
        ...about(
          'Trunks',
          'Verify or assign a number',
          'A project that gets the number from another one starts with the default settings: no trunks, no inbound calls, no bot.',
        ),
        params,
        body: numberClaimPatch.meta({ id: 'NumberClaimPatch', examples: [{ verified: true }] }),
        response: { 200: numberClaim, ...errors('body') },
      },
    },
    async (request) => {
      const number = requireNumber(request.params.number, 'number');
      const now = new Date(deps.clock.now()).toISOString();
      const assigned = await deps.storage.transaction(async (stores) => {
        const done = await stores.numberClaims.assign(number, request.body, deps.makeId(), now);
        if (!done) throw notFound('Number');
        const { claim, formerProjectId } = done;
        const { projectId, phoneNumberId: target, verified } = claim;
        const change = { action: 'phone_number.assigned', target, details: { number, verified } } as const;
        for (const one of new Set([projectId, formerProjectId])) {
          await audit(deps, stores, request, { ...change, projectId: one });
        }
        return claim;
      });
      await deps.calls.trunksChanged();
      return assigned;
    },
  );
}

function removeRoute(app: App, deps: HttpDeps): void {
  app.delete(
    `${PATH}/:number`,
    {
      config: ADMIN,
      schema: {
        ...about('Trunks', 'Remove a number', 'From the project that holds it.'),
        params,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const number = requireNumber(request.params.number, 'number');
      await deps.storage.transaction(async (stores) => {
        const projectId = await stores.numberClaims.remove(number);
        if (projectId === undefined) throw notFound('Number');
        const change = { action: 'phone_number.deleted', target: number, details: { number } } as const;
        await audit(deps, stores, request, { ...change, projectId });
      });
      await deps.calls.trunksChanged();
      return await reply.code(204).send(null);
    },
  );
}
