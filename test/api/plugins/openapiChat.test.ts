import { afterAll, beforeAll, expect, test } from 'vitest';

import { WEBHOOK_EVENT_NAMES } from '../../../src/webhooks/events.ts';
import { startTestServer, type TestServer } from '../../support/httpServer.ts';
import { detectLeaks } from '../../support/leaks.ts';

let assertNoLeaks: () => Promise<void>;
let server: TestServer;
// biome-ignore lint/suspicious/noExplicitAny: the document has many shapes
let document: any;
beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  server = await startTestServer();
  document = (await server.send('GET', '/openapi.json', { key: null })).body;
});
afterAll(async () => {
  await server.close();
  await assertNoLeaks();
});

const LEGACY = [
  ['post', '/project/{projectId}/chat/completions', '/v1/projects/{projectId}/chat/completions'],
  ['post', '/project/{projectId}/session', '/v1/projects/{projectId}/sessions'],
  ['delete', '/project/{projectId}/session', '/v1/projects/{projectId}/sessions'],
  ['get', '/project/{projectId}/session/{sessionId}', '/v1/projects/{projectId}/sessions/{sessionId}'],
  ['post', '/project/{projectId}/session/search', '/v1/projects/{projectId}/sessions/search'],
];

test.each(LEGACY)('%s %s is deprecated and otherwise equal to its successor %s', (method, legacy, v1) => {
  const { deprecated, ...operation } = document.paths[legacy]?.[method] ?? {};
  expect(deprecated).toBe(true);
  expect(operation.summary).toEqual(expect.any(String));
  expect(document.paths[v1]?.[method]).toEqual(operation);
});

test('Every webhook is documented with its body and signature headers', () => {
  expect(Object.keys(document.webhooks)).toEqual(WEBHOOK_EVENT_NAMES);
  for (const event of WEBHOOK_EVENT_NAMES) {
    const { requestBody, parameters } = document.webhooks[event].post;
    // biome-ignore lint/suspicious/noExplicitAny: responses have every shape
    const schema: any = resolve(requestBody.content['application/json'].schema.$ref);
    expect(schema.properties.event).toEqual({ type: 'string', const: event });
    expect(schema.examples).toHaveLength(1);
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
  }
});

function resolve(reference: string): unknown {
  return reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
}
