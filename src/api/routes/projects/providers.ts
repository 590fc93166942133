import {
  providerCredentialsInput,
  providerName,
  requireProviderAddress,
  shownCredentials,
  shownProviderCredentials,
} from '../../../agents/speech/providerCredentials.ts';
import { notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/values/page.ts';
import { audit } from '../../audit.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, listOf, listResponse, noContent, pageQuery, projectParams } from '../../schemas.ts';
import { requireProjectExists } from './projects.ts';

const PATH = '/v1/projects/:projectId/providers';
const TAG = 'Speech';
const MANAGE: Access = { kind: 'manage' };
const params = projectParams.extend({ name: providerName });

/** A project's own keys for providers of speech and chat, and its token of Twilio. */
export function providerRoutes(app: App, deps: HttpDeps): void {
  readRoutes(app, deps);
  putRoute(app, deps);
  deleteRoute(app, deps);
}

function readRoutes(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: { access: MANAGE },
      schema: {
        ...about(TAG, 'List the provider credentials', 'By name, without the keys.'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(shownProviderCredentials), ...errors() },
      },
    },
    async ({ params: { projectId }, query }) => {
      await requireProjectExists(stores, projectId);
      const page = await stores.providerCredentials.list(projectId, query);
      return listResponse(mapPage(page, shownCredentials), query);
    },
  );
  app.get(
    `${PATH}/:name`,
    {
      config: { access: MANAGE },
      schema: {
        ...about(TAG, 'Get provider credentials', 'Without the key.'),
        params,
        response: { 200: shownProviderCredentials, ...errors() },
      },
    },
    async ({ params: { projectId, name } }) => {
      const found = await stores.providerCredentials.find(projectId, name);
      if (!found) throw notFound('Provider');
      return shownCredentials(found);
    },
  );
}

function putRoute(app: App, deps: HttpDeps): void {
  app.put(
    `${PATH}/:name`,
    {
      config: { access: MANAGE },
      schema: {
        ...about(
          TAG,
          'Set provider credentials',
          'Used by calls that begin afterwards, in place of the installation’s credentials. Replaces all of what was stored.',
        ),
        params,
        body: providerCredentialsInput,
        response: { 200: shownProviderCredentials, ...errors('body') },
      },
    },
    async (request) => {
      const { projectId, name } = request.params;
      const { apiKey, baseUrl } = request.body;
      const address =
        baseUrl === undefined ? null : requireProviderAddress(name, baseUrl, deps.agents.targetPolicy);
      const updatedAt = new Date(deps.clock.now()).toISOString();
      const credentials = { name, apiKey, baseUrl: address, updatedAt };
      const shown = shownCredentials(credentials);
      await deps.storage.transaction(async (stores) => {
        await requireProjectExists(stores, projectId);
        await stores.providerCredentials.put(projectId, credentials);
        const details = { hint: shown.hint, baseUrl: address };
        await audit(deps, stores, request, { action: 'provider.updated', projectId, target: name, details });
      });
      return shown;
    },
  );
}

function deleteRoute(app: App, deps: HttpDeps): void {
  app.delete(
    `${PATH}/:name`,
    {
      config: { access: MANAGE },
      schema: {
        ...about(TAG, 'Delete provider credentials', 'The installation’s are used again, where it has any.'),
        params,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const { projectId, name } = request.params;
      await deps.storage.transaction(async (stores) => {
        if (!(await stores.providerCredentials.remove(projectId, name))) throw notFound('Provider');
        await audit(deps, stores, request, { action: 'provider.deleted', projectId, target: name });
      });
      return await reply.code(204).send(null);
    },
  );
}
