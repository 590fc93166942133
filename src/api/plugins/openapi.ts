import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

import { packageVersion } from '../../base/packagePath.ts';
import { webhookBodySchemas } from '../../webhooks/events.ts';
import type { App } from '../ports.ts';
import { TAGS } from '../tags.ts';

/** The console's icon, as in `console/public/favicon.svg`. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b7285"/><path d="M8 14v4M13.3 9v14M18.7 12v8M24 7v18" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>';
const ICON_TYPE = 'image/svg+xml';

/** Documents every route that is registered after it: `/openapi.json`, and Swagger UI at `/docs`. */
export async function openApi(app: App, publicUrl: () => string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Callway',
        version: packageVersion(),
        description:
          'A voice gateway: phone calls over your own SIP trunks, and an OpenAI-compatible chat API, on one engine that follows a pathway.',
      },
      tags: TAGS.map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A project key (`sk_`), a developer key (`dk_`), or the operator’s admin token.',
          },
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'x-api-key',
            description: 'A project key (`sk_`).',
          },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => finish(jsonSchemaTransformObject(document), publicUrl()),
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { docExpansion: 'none' },
    uiHooks: {
      onRequest(request, reply, next) {
        // The plugin would write the document again for each request, and without a limit.
        if (COPIES.has(request.routeOptions.url)) reply.redirect('../openapi.json');
        else next();
      },
    },
    logo: { type: ICON_TYPE, content: ICON, href: '/docs' },
    theme: {
      title: 'Callway API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: ICON_TYPE, sizes: 'any', content: ICON }],
    },
  });
}

const COPIES: ReadonlySet<string | undefined> = new Set(['/docs/json', '/docs/yaml']);

type Document = ReturnType<typeof jsonSchemaTransformObject>;

/** Adds what the generator leaves out: the server address, and a description of each status. */
function finish(document: Document, url: string): Document {
  const paths: unknown = 'paths' in document ? document.paths : {};
  for (const operations of Object.values(paths as Record<string, object>)) {
    for (const operation of Object.values(operations)) {
      const { responses } = operation as { responses?: Record<string, { description?: string }> };
      for (const [status, response] of Object.entries(responses ?? {})) {
        if (response.description === undefined || response.description === 'Default Response') {
          response.description = STATUS_CODES[status] ?? 'Response';
        }
      }
    }
  }
  return { ...document, servers: [{ url }], webhooks: webhooks() } as Document;
}

/** The requests that the service sends. @see https://spec.openapis.org/oas/v3.1.1.html, "webhooks" */
function webhooks(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(webhookBodySchemas).map(([event, body]) => {
      // The generator adds every schema with an id to the components.
      const { id = event, description = event } = body.meta() ?? {};
      const schema = { $ref: `#/components/schemas/${id}` };
      const operation = {
        tags: ['Webhooks'],
        summary: event,
        description,
        parameters: SIGNATURE_HEADERS.map(([name, description]) => ({
          in: 'header',
          name,
          required: true,
          description,
          schema: { type: 'string' },
        })),
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: {
          '2XX': { description: 'Received. Any other response is recorded; the request is not repeated.' },
        },
      };
      return [event, { post: operation }];
    }),
  );
}

/** @see https://www.standardwebhooks.com */
const SIGNATURE_HEADERS = [
  ['webhook-id', 'Equal to `deliveryId` in the body.'],
  ['webhook-timestamp', 'Unix time of the request, in seconds.'],
  [
    'webhook-signature',
    '`v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`; two signatures after a rotation of the secret.',
  ],
] as const;
