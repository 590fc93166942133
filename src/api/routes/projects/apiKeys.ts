import { z } from 'zod';

import { apiKey, apiKeyInput, DEFAULT_SCOPES, makeApiKey } from '../../../agents/accounts/apiKey.ts';
import { requireOwnScopes } from '../../../agents/accounts/principal.ts';
import { crudRoutes } from '../../crud.ts';
import { type Access, principalOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { requireProjectExists } from './projects.ts';

const MANAGE: Access = { kind: 'manage' };

const createdKey = apiKey
  .omit({ lastUsedAt: true })
  .extend({ key: z.string().nullable().describe('Shown only this once; null in a repeated response.') });

export function apiKeyRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Projects',
    noun: 'API key',
    withArticle: 'an API key',
    path: '/v1/projects/:projectId/api-keys',
    idParameter: 'keyId',
    schema: apiKey,
    quota: 'apiKeys',
    list: {
      access: MANAGE,
      description: 'Without the keys themselves.',
      async run({ stores, projectId }, page) {
        await requireProjectExists(stores, projectId);
        return await stores.apiKeys.list(projectId, page);
      },
    },
    create: {
      auditAction: 'api_key.created',
      access: MANAGE,
      description:
        'The key is in this response only; it is not stored. A key creates only keys with scopes that it has itself: else 403 `missing_scope`.',
      body: apiKeyInput,
      schema: createdKey,
      async run({ request, stores, projectId, id, now }, { name, kind, scopes = [...DEFAULT_SCOPES] }) {
        requireOwnScopes(principalOf(request), scopes);
        await requireProjectExists(stores, projectId);
        const { key, digest, hint } = makeApiKey(kind);
        const shown = { id, name, kind, hint, scopes, createdAt: now };
        await stores.apiKeys.insert({ ...shown, projectId, digest, lastUsedAt: null });
        return { ...shown, key };
      },
      withoutSecrets: (created) => ({ ...created, key: null }),
      auditDetails: ({ name, kind, hint, scopes }) => ({ name, kind, hint, scopes }),
    },
    remove: {
      auditAction: 'api_key.revoked',
      access: MANAGE,
      summary: 'Revoke an API key',
      description: 'From this response on, every node refuses it.',
      async run({ stores, projectId, id }) {
        await requireProjectExists(stores, projectId);
        return await stores.apiKeys.remove(projectId, id);
      },
      onRemoved: (digest) => deps.access.revocations.announce([digest]),
    },
  });
}
