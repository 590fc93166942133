import { gunzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, onTestFinished, test } from 'vitest';

import manifest from '../../../package.json' with { type: 'json' };
import { createTestApp } from '../support/testApp.ts';

const DOCS = /^\/docs(\/|$)/;
/** Statuses of every protected route. */
const ALWAYS = ['400', '401', '403', '404', '429', '500', '503'];

async function describedApp() {
  const { app, close } = await createTestApp();
  onTestFinished(close);
  await app.ready();
  const answer = await app.inject('/openapi.json');
  return { app, document: answer.json() };
}

interface BodySchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, object>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, { description?: string }>>;
  readonly security?: object;
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: BodySchema } };
  };
}
type Operations = Readonly<Record<string, Operation>>;

test('The OpenAPI document is valid OpenAPI 3.1', async () => {
  const { document } = await describedApp();
  const validator = new Validator();

  const { valid, errors } = await validator.validate(document);

  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(document.openapi).toMatch(/^3\.1\./);
});

test('The API document has the version of the package, and its page no other product’s name or icon', async () => {
  const { app, document } = await describedApp();
  expect(document.info.version).toBe(manifest.version);
  const page = (await app.inject('/docs')).body;
  const script = (await app.inject('/docs/static/swagger-initializer.js')).body;
  expect(page).toContain('<title>Callway API</title>');
  expect([...page.matchAll(/rel="icon"[^>]+href="([^"]+)"/g)].map(([, href]) => href)).toEqual([
    '/docs/static/theme/icon.svg',
  ]);
  const shown = /img.src = 'data:image\/svg\+xml;base64,([^']+)'/.exec(script)?.[1] ?? '';
  expect((await app.inject('/docs/static/theme/icon.svg')).body).toBe(
    Buffer.from(shown, 'base64').toString(),
  );
});

test('The OpenAPI document is sent compressed, and not again to a client that has it', async () => {
  const { app, document } = await describedApp();
  const get = (headers: Record<string, string>) => app.inject({ url: '/openapi.json', headers });

  const { rawPayload, headers } = await get({ 'accept-encoding': 'gzip, br' });
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'cache-control': 'no-cache' });
  expect(JSON.parse(gunzipSync(rawPayload).toString())).toEqual(document);
  expect((await get({ 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
});

test('The OpenAPI document has every route; other paths are 404', async () => {
  const { app, document } = await describedApp();
  const documented = Object.entries(document.paths as Record<string, Operations>).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );

  const registered = routesOf(app.printRoutes({ commonPrefix: false }));

  expect(documented.length).toBeGreaterThan(40);
  expect(registered).toEqual(expect.arrayContaining(documented));
  const others = registered.filter((route) => !documented.includes(route));
  for (const route of others) {
    const [method = '', path = ''] = route.split(' ');
    if (method === 'HEAD' && documented.includes(`GET ${path}`)) continue;
    const answer = await app.inject({ method: method as 'GET', url: path });
    expect([route, answer.statusCode]).toEqual([route, 405]);
  }
});

test('Every operation documents all responses, a summary and a tag that is described', async () => {
  const { document } = await describedApp();
  const tags = document.tags.map(({ name }: { name: string }) => name);
  for (const [path, item] of Object.entries(document.paths as Record<string, Operations>)) {
    for (const [method, operation] of Object.entries(item)) {
      const statuses = Object.keys(operation.responses);
      const name = `${method} ${path}`;
      expect([name, statuses.some((status) => status.startsWith('2'))]).toEqual([name, true]);
      if (operation.security) expect([name, statuses]).toEqual([name, expect.arrayContaining(ALWAYS)]);
      expect(operation).toMatchObject({ summary: expect.any(String), tags: [expect.toBeOneOf(tags)] });
      for (const { description } of Object.values(operation.responses)) expect(description).not.toBe('');
    }
  }
});

test('No field of a PATCH has a default, which would change what a request leaves out', async () => {
  const { document } = await describedApp();
  const fields = Object.entries(document.paths as Record<string, Operations>).flatMap(([path, { patch }]) => {
    const schema = patch?.requestBody?.content['application/json'].schema ?? {};
    const name = schema.$ref?.split('/').at(-1);
    const { properties = {} }: BodySchema = name === undefined ? schema : document.components.schemas[name];
    return Object.entries(properties).map(([field, one]) => ({ field: `${path} ${field}`, one }));
  });
  expect(fields.length).toBeGreaterThan(50);
  expect(fields.filter(({ one }) => 'default' in one).map(({ field }) => field)).toEqual([]);
});

test('Every reference in the OpenAPI document resolves', async () => {
  const { document } = await describedApp();
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to = '']) => to);

  expect(references.length).toBeGreaterThan(50);
  for (const reference of new Set(references)) {
    const found = reference
      .slice(2)
      .split('/')
      .reduce((place, key) => place?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
    expect([reference, typeof found]).toEqual([reference, 'object']);
  }
});

test.each(['/docs/json', '/docs/yaml'])(
  '%s is the document at its address, which has a limit',
  async (path) => {
    const { app } = await describedApp();
    const answer = await app.inject(path);
    expect([answer.statusCode, answer.headers.location]).toEqual([302, '../openapi.json']);
  },
);

/** Parses the printed router tree: each line is a part of a path, with its methods. */
function routesOf(tree: string): string[] {
  const parents: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│├└─ ]*)(\S*)(?: \((.+)\))?$/.exec(line) ?? [];
    parents.splice(Math.max(0, indent.length / 4 - 1), Number.POSITIVE_INFINITY, part);
    const path = parents.join('').replace(/:(\w+)/g, '{$1}');
    if (methods === '' || DOCS.test(path)) return [];
    return methods.split(', ').map((method) => `${method} ${path}`);
  });
}
