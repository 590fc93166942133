import type { FastifyRequest } from 'fastify';
import { type Rates, rates } from '../../../agents/cost/rates.ts';
import { notFound } from '../../../base/errors.ts';
import { audit } from '../../audit.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, noContent, projectParams } from '../../schemas.ts';
import { requireProjectExists } from './projects.ts';

const PATH = '/v1/projects/:projectId/rates';
const INSTALLATION_PATH = '/v1/rates';
const TAG = 'Projects';
const ADMIN: Access = { kind: 'admin' };
const READ: Access = { kind: 'project', scope: 'read', admin: true };
const WRITE: Access = { kind: 'project', scope: 'write', admin: true };
const PUT_TEXT =
  'Replaces them all. They price the sessions that end from now on; the cost of ended ones does not change.';

/** What vendors bill a project, or the installation's projects that have no rates of their own. */
export function rateRoutes(app: App, deps: HttpDeps): void {
  ofProject(app, deps);
  ofInstallation(app, deps);
}

function ofProject(app: App, deps: HttpDeps): void {
  const { stores } = deps.storage;
  app.get(
    PATH,
    {
      config: { access: READ },
      schema: {
        ...about(TAG, 'Get the rates', 'The project’s own, else the installation’s; 404 without either.'),
        params: projectParams,
        response: { 200: rates, ...errors() },
      },
    },
    async ({ params: { projectId } }) => {
      await requireProjectExists(stores, projectId);
      return requireRates((await stores.rates.own(projectId)) ?? (await stores.rates.own(null)));
    },
  );
  app.put(
    PATH,
    {
      config: { access: WRITE },
      schema: {
        ...about(TAG, 'Set the rates', `${PUT_TEXT} The installation’s do not apply any more.`),
        params: projectParams,
        body: rates,
        response: { 200: rates, ...errors('body') },
      },
    },
    (request) => put(deps, request, request.params.projectId, request.body),
  );
  app.delete(
    PATH,
    {
      config: { access: WRITE },
      schema: {
        ...about(TAG, 'Delete the rates', 'The installation’s apply again, where it has any.'),
        params: projectParams,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      requireRates(await stores.rates.own(projectId));
      await change(deps, request, projectId, null);
      return await reply.code(204).send(null);
    },
  );
}

function ofInstallation(app: App, deps: HttpDeps): void {
  app.get(
    INSTALLATION_PATH,
    {
      config: { access: ADMIN },
      schema: {
        ...about(TAG, 'Get the installation’s rates', '404 while there are none.'),
        response: { 200: rates, ...errors() },
      },
    },
    async () => requireRates(await deps.storage.stores.rates.own(null)),
  );
  app.put(
    INSTALLATION_PATH,
    {
      config: { access: ADMIN },
      schema: {
        ...about(TAG, 'Set the installation’s rates', `Of projects without their own. ${PUT_TEXT}`),
        body: rates,
        response: { 200: rates, ...errors('body') },
      },
    },
    (request) => put(deps, request, null, request.body),
  );
}

async function put(deps: HttpDeps, request: FastifyRequest, projectId: string | null, wanted: Rates) {
  await change(deps, request, projectId, wanted);
  return wanted;
}

async function change(
  deps: HttpDeps,
  request: FastifyRequest,
  projectId: string | null,
  wanted: Rates | null,
): Promise<void> {
  await deps.storage.transaction(async (stores) => {
    if (projectId !== null) await requireProjectExists(stores, projectId);
    await stores.rates.put(projectId, wanted, new Date(deps.clock.now()).toISOString());
    await audit(deps, stores, request, {
      action: wanted ? 'rates.updated' : 'rates.deleted',
      projectId,
      target: projectId ?? 'installation',
    });
  });
}

function requireRates(found: Rates | undefined): Rates {
  if (!found) throw notFound('Rates');
  return found;
}
