import { z } from 'zod';

import { makeApiKey } from '../../../agents/accounts/apiKey.ts';
import { requireOwnScopes } from '../../../agents/accounts/principal.ts';
import { requireFuture, widgetToken, widgetTokenInput } from '../../../agents/accounts/widgetToken.ts';
import { crudRoutes } from '../../crud.ts';
import { principalOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';

const createdToken = widgetToken.omit({ minutesUsedToday: true }).extend({
  token: z.string().nullable().describe('Shown only this once; null in a repeated response.'),
});

/** Public tokens for the widget on web pages. */
export function widgetTokenRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Widget',
    noun: 'widget token',
    path: '/v1/projects/:projectId/widget-tokens',
    idParameter: 'tokenId',
    schema: widgetToken,
    allowsAdmin: true,
    quota: 'widgetTokens',
    list: {
      description: 'Without the tokens themselves.',
      run: ({ stores, projectId, now }, page) => stores.widgetTokens.list(projectId, page, new Date(now)),
    },
    create: {
      auditAction: 'widget_token.created',
      description:
        'The token is public: it stands in web pages. It opens the chat and a media stream of its project from pages of `allowedOrigins`, and nothing else. The origin is what a browser says; programs can say anything, so the limits are what bounds the cost.',
      body: widgetTokenInput,
      schema: createdToken,
      async run({ request, stores, projectId, id, now }, { expiresAt, ...input }) {
        requireOwnScopes(principalOf(request), ['write', 'calls']);
        requireFuture(expiresAt, deps.clock.now());
        const { key: token, digest, hint } = makeApiKey('widget');
        const expiry = expiresAt === null ? null : new Date(expiresAt).toISOString();
        const shown = { id, hint, ...input, expiresAt: expiry, createdAt: now };
        await stores.widgetTokens.insert({ ...shown, projectId, digest });
        return { ...shown, token };
      },
      withoutSecrets: (created) => ({ ...created, token: null }),
      auditDetails: ({ hint, allowedOrigins, expiresAt }) => ({ hint, allowedOrigins, expiresAt }),
    },
    remove: {
      auditAction: 'widget_token.revoked',
      summary: 'Revoke a widget token',
      description: 'From this response on, every node refuses it; its open streams end within half a minute.',
      run: ({ stores, projectId, id }) => stores.widgetTokens.remove(projectId, id),
      onRemoved: (digest) => deps.access.revocations.announce([digest]),
    },
  });
}
