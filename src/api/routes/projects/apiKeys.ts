import { z } from 'zod';

import { apiKey, apiKeyInput, DEFAULT_SCOPES, makeApiKey } from '../../../agents/accounts/apiKey.ts';
import { notFound } from '../../../base/errors.ts';
import type { App } from '../../app.ts';
import { audit } from '../../audit.ts';
import { createOnce } from '../../idempotency.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../../schemas.ts';

const manage: Access = { kind: 'manage' };

const createdKey = apiKey
  .omit({ lastUsedAt: true })
  .extend({ key: z.string().nullable().describe('Shown this once; null when the answer is a repetition.') });

export function apiKeyRoutes(app: App, deps: HttpDeps): void {
  const { storage } = deps;

  app.post(
    '/v1/projects/:projectId/api-keys',
    {
      config: { access: manage },
      schema: {
        ...about('Projects', 'Create a key', 'The key is in this answer and nowhere else.'),
        params: projectParams,
        body: apiKeyInput,
        response: { 201: createdKey, ...errors('body', 409) },
      },
    },
    (request, reply) =>
      createOnce(
        deps,
        request,
        reply,
        { status: 201, withoutSecrets: (body) => ({ ...body, key: null }) },
        async (stores) => {
          const { projectId } = request.params;
          if (!(await stores.projects.find(projectId))) throw notFound('Project');
          const { name, kind, scopes = [...DEFAULT_SCOPES] } = request.body;
          const { key, digest, hint } = makeApiKey(kind);
          const id = deps.makeId();
          const createdAt = new Date(deps.clock.now()).toISOString();
          await stores.apiKeys.insert({
            id,
            projectId,
            name,
            kind,
            digest,
            hint,
            scopes,
            createdAt,
            lastUsedAt: null,
          });
          const details = { name, kind, hint, scopes };
          await audit(deps, stores, request, { action: 'api_key.created', projectId, target: id, details });
          return { id, name, kind, hint, scopes, createdAt, key };
        },
      ),
  );

  app.get(
    '/v1/projects/:projectId/api-keys',
    {
      config: { access: manage },
      schema: {
        ...about('Projects', 'List the keys', 'Never the keys themselves.'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(apiKey), ...errors() },
      },
    },
    async ({ params, query }) => {
      if (!(await storage.stores.projects.find(params.projectId))) throw notFound('Project');
      return listAnswer(await storage.stores.apiKeys.list(params.projectId, query), query);
    },
  );

  app.delete(
    '/v1/projects/:projectId/api-keys/:keyId',
    {
      config: { access: manage },
      schema: {
        ...about('Projects', 'Revoke a key', 'It is refused from this answer on, on every node.'),
        params: projectParams.extend({ keyId: z.string() }),
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const { projectId, keyId } = request.params;
      const digest = await storage.transaction(async (stores) => {
        if (!(await stores.projects.find(projectId))) throw notFound('Project');
        const removed = await stores.apiKeys.remove(projectId, keyId);
        if (removed === undefined) throw notFound('API key');
        await audit(deps, stores, request, { action: 'api_key.revoked', projectId, target: keyId });
        return removed;
      });
      await deps.revocations.announce([digest]);
      return await reply.code(204).send(null);
    },
  );
}
