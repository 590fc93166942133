import { describe, expect, it } from 'vitest';
import type { GuardedHttpClient } from '../../src/http/client.ts';
import { createGuardedFetch } from '../../src/http/fetch.ts';
import { useClients } from './support/clients.ts';

const { client, serve } = useClients();

function fetchWith(limits: object = {}, guarded: GuardedHttpClient = client()) {
  const signal = new AbortController().signal;
  return createGuardedFetch(guarded, { timeoutMs: 5_000, maxResponseBytes: 1_000, signal, ...limits });
}

describe('The guarded fetch', () => {
  it('sends method, headers and body, and returns a Response', async () => {
    const server = await serve(async (request, response) => {
      const body = (await request.toArray()).join('');
      response.writeHead(201, { 'content-type': 'text/plain', 'x-echo': request.headers['x-key'] });
      response.end(`${request.method} ${body}`);
    });
    const init = { method: 'POST', headers: { 'x-key': 'a' }, body: 'words' };
    const response = await fetchWith()(new URL(`http://127.0.0.1:${server.port}/`), init);
    expect([response.status, response.headers.get('x-echo')]).toEqual([201, 'a']);
    expect(await response.text()).toBe('POST words');
  });

  it.each([204, 304])('returns a %s without a body', async (status) => {
    const server = await serve((_request, response) => response.writeHead(status).end());
    expect(await fetchWith()(`http://127.0.0.1:${server.port}/`)).toMatchObject({ status, body: null });
  });

  it.each([
    ['a private address', 'https://10.0.0.1/', 'target_private_address'],
    ['plain http', 'http://example.com/', 'target_not_https'],
  ])('refuses %s', async (_, url, code) => {
    await expect(fetchWith()(url)).rejects.toMatchObject({ code });
  });

  it('refuses a name with a private address', async () => {
    const guarded = client({ lookup: async () => ['10.0.0.1'] });
    await expect(fetchWith({}, guarded)('https://mcp.test/')).rejects.toMatchObject({
      code: 'target_private_address',
    });
  });

  it('follows no redirect', async () => {
    const inside = await serve((_request, response) => response.end('secret'));
    const outside = await serve((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${inside.port}/` }).end(),
    );
    await expect(fetchWith()(`http://127.0.0.1:${outside.port}/`)).rejects.toMatchObject({
      code: 'response_invalid',
    });
    expect(inside.connections()).toBe(0);
  });

  it('limits the whole body of a stream, and its time', async () => {
    const endless = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${'x'.repeat(2_000)}\n\n`);
    });
    const url = `http://127.0.0.1:${endless.port}/`;
    await expect(fetchWith()(url)).rejects.toMatchObject({ code: 'response_too_large' });
    await expect(fetchWith({ maxResponseBytes: 10_000, timeoutMs: 100 })(url)).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  it.each(['limits', 'request'])('ends with the signal of the %s', async (owner) => {
    const silent = await serve(() => undefined);
    const { signal } = { signal: AbortSignal.timeout(50) };
    const fetching = fetchWith(owner === 'limits' ? { signal } : {})(
      `http://127.0.0.1:${silent.port}/`,
      owner === 'request' ? { signal } : {},
    );
    await expect(fetching).rejects.toMatchObject({ code: 'aborted' });
  });
});
