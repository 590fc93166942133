import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';

import { sharedGateway } from '../../support/gateway.ts';

const gateway = sharedGateway();
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const post = (body: string | Uint8Array) => gateway().api('POST', '/v1/projects', { body });
const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;

describe('A JSON body', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'invalid_request'],
    ['half of an object', '{"name": "x"', 'invalid_json'],
    ['two documents', '{}{}', 'invalid_json'],
    ['a comment', '{/* */}', 'invalid_json'],
    ['a bare word', 'NaN', 'invalid_json'],
    ['null', 'null', 'invalid_request'],
    ['an array', '[]', 'invalid_request'],
    ['a key __proto__', '{"name": "x", "__proto__": {"a": 1}}', 'invalid_json'],
    ['an escaped key __proto__', '{"name": "x", "\\u005f_proto__": {"a": 1}}', 'invalid_json'],
    ['a constructor’s prototype', '{"constructor": {"prototype": {"a": 1}}}', 'invalid_json'],
    ['U+0000', '{"name": "a\\u0000b"}', 'invalid_text'],
    ['U+0000 in a key', '{"name": "x", "a\\u0000": 1}', 'invalid_text'],
    ['half of a surrogate pair', '{"name": "\\ud83d"}', 'invalid_text'],
    ['broken UTF-8', Uint8Array.of(0x22, 0xc3, 0x28, 0x22), 'invalid_utf8'],
    ['an overlong NUL', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 'invalid_utf8'],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0xbd, 0x22), 'invalid_utf8'],
    ['65 levels', nested(65), 'json_too_deep'],
    ['200,000 levels', '['.repeat(200_000), 'json_too_deep'],
    ['a number beyond all doubles', '{"name": "x", "sessionIdleMinutes": 1e999}', 'invalid_json'],
    ['one at any depth', '{"a": [{"b": -1e400}]}', 'invalid_json'],
    ['as many digits', `{"name": "x", "sessionIdleMinutes": ${'9'.repeat(400)}}`, 'invalid_json'],
  ])('with %s is refused', async (_, body, code) => {
    const answer = await post(body);

    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect(JSON.stringify(answer.body)).not.toMatch(/stack|node_modules|SELECT|at Object/);
  });

  test('can be 64 levels deep and contain any text; the last of two equal keys counts', async () => {
    const { path, developerKey: key } = await gateway().createProject();
    const variables = { deep: JSON.parse(nested(60)), text: '\u0001 \u{1f600} é "{[', large: 1e308 };
    const kept = await gateway().api('POST', `${path}/test-cases`, { key, body: { name: 'x', variables } });

    expect(kept).toMatchObject({ status: 201, body: { variables } });
    expect((await gateway().api('GET', `${path}/test-cases/${kept.body.id}`, { key })).body).toEqual(
      kept.body,
    );
    expect((await post('{"name": "first", "name": "second"}')).body.name).toBe('second');
    expect((await post(`{"name": "1e999 and ${'9'.repeat(100)}"}`)).status).toBe(201);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'multipart/form-data'])(
    'with the type %s is 415',
    async (type) => {
      const headers = { 'content-type': type };
      const answer = await gateway().api('POST', '/v1/projects', { body: '{"name":"x"}', headers });
      expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    },
  );

  test('without a type is 415, with type parameters it is accepted', async () => {
    const authorization = `Bearer ${gateway().adminToken}`;
    const url = `${gateway().url}/v1/projects`;
    const body = new TextEncoder().encode('{"name":"x"}');

    expect((await fetch(url, { method: 'POST', body, headers: { authorization } })).status).toBe(415);
    const headers = { authorization, 'content-type': 'Application/JSON; charset="utf-8"' };
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(201);
  });

  test('over 1 MiB is 413; a pathway can have 8 MiB', async () => {
    const { path, developerKey: key } = await gateway().createProject();
    const body = JSON.stringify({ name: 'x'.repeat(1_048_576) });

    expect(await post(body)).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    expect((await gateway().api('PUT', `${path}/pathway`, { key, body })).status).toBe(400);
    const larger = JSON.stringify({ name: 'x'.repeat(8 * 1_048_576) });
    expect((await gateway().api('PUT', `${path}/pathway`, { key, body: larger })).status).toBe(413);
  });

  test('that is refused is read to its end, and the connection stays open', async () => {
    const { hostname, port } = new URL(gateway().url);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    const answers = async (count: number) =>
      await vi.waitUntil(() => received.match(/HTTP\/1\.1 \d+/g)?.length === count, { timeout: 10_000 });
    const length = 3 * 1_048_576;
    socket.write(
      [
        'POST /v1/projects HTTP/1.1',
        'Host: x',
        `Authorization: Bearer ${gateway().adminToken}`,
        'Content-Type: application/json',
        `Content-Length: ${length}`,
        '\r\n',
      ].join('\r\n'),
    );
    await answers(1);
    socket.write('x'.repeat(length));
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await answers(2);
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    socket.destroy();
  });

  test('without a valid credential is not parsed', async () => {
    const answer = await gateway().api('POST', '/v1/projects', { key: null, body: '{' });
    expect(answer.status).toBe(401);
  });
});

describe('Every response', () => {
  const places: [string, string, string, number][] = [
    ['a good one', 'GET', '/v1/projects', 200],
    ['no route', 'GET', '/nowhere', 404],
    ['no method', 'PUT', '/v1/projects', 405],
    ['a broken path', 'GET', '/v1/projects/%zz', 400],
    ['a NUL in the path', 'GET', '/v1/projects/a%00b', 400],
    ['a path of broken UTF-8', 'GET', '/v1/projects/%ff', 400],
    ['a name too long', 'GET', `/v1/projects/${'x'.repeat(600)}`, 404],
    ['health', 'GET', '/healthz', 200],
  ];

  test.each(places)('(%s) has a request id and the security headers', async (...place) => {
    const [, method, path, status] = place;
    const answer = await gateway().api(method, path);

    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-request-id')).toMatch(UUID);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('x-powered-by') ?? answer.headers.get('server')).toBeNull();
  });

  test.each([
    ['abc-123/x:y.z_0', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['two words', false],
    ['<script>', false],
    ['"quoted"', false],
    ['', false],
  ])('keeps the given request id %j: %s', async (given, isKept) => {
    const answer = await gateway().api('GET', '/nowhere', { headers: { 'x-request-id': given } });

    const id = answer.headers.get('x-request-id');
    if (isKept) expect(id).toBe(given);
    else expect(id).toMatch(UUID);
  });

  test('to bytes that are not HTTP has a request id and closes the connection', async () => {
    const { port } = new URL(gateway().url);
    for (const [words, status] of [
      ['rubbish\r\n\r\n', '400'],
      [`GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
      [
        'POST /v1/projects HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
        '400',
      ],
    ] as const) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(words);
      const answer = await text(socket);
      expect(answer).toContain(`HTTP/1.1 ${status} `);
      expect(answer.toLowerCase()).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
        code: expect.any(String),
      });
    }
  });
});

describe('Methods', () => {
  test('that a path does not have are 405 with Allow', async () => {
    const { operations } = gateway().contract;
    const paths = new Set(operations.map(({ path }) => path));
    expect(paths.size).toBeGreaterThan(20);
    for (const path of paths) {
      const methods = operations.filter((one) => one.path === path).map(({ method }) => method);
      // On these paths the other methods are for the session or the test case with that id.
      const named = /\/session(s)?\/(search|terminate)$|\/session-history\/analyze$/.test(path)
        ? ['GET']
        : path.endsWith('/test-cases/from-session')
          ? ['GET', 'PUT', 'PATCH', 'DELETE']
          : [];
      const missing = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
        (one) => !methods.includes(one) && !named.includes(one),
      );
      const taken = [...methods, ...named];
      const allowed = taken.includes('GET') ? ['HEAD', ...taken] : taken;
      for (const method of missing) {
        const answer = await gateway().api(method, path.replace(/\{\w+\}/g, 'x'), { key: null });
        expect([path, method, answer.status]).toEqual([path, method, 405]);
        expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(allowed.sort());
        const { code } = path.includes('/openai/v1/') ? answer.body.error : answer.body;
        expect(code).toBe('method_not_allowed');
      }
    }
  });

  test('include HEAD, which is GET without the body', async () => {
    const answer = await gateway().api('HEAD', '/healthz');
    expect([answer.status, answer.body]).toEqual([200, undefined]);
  });
});
