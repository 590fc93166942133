import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { GuardedRequest } from '../../src/http/client.ts';
import { HttpClientError } from '../../src/http/errors.ts';
import type { BuildConnector } from '../../src/http/pacedSocket.ts';
import { responseText } from '../../src/http/response.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { get, useClients } from './support/clients.ts';

const { cleanups, client, serve, serveRaw } = useClients();

describe('The guarded HTTP client', () => {
  it('sends method, headers and body, and returns the response', async () => {
    const server = await serve((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        response.writeHead(201, { 'X-Twice': ['a', 'b'] });
        response.end(
          JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }),
        );
      });
    });
    const answer = await client().request({
      ...get(`http://localhost:${server.port}/a/b?c=d#e`),
      method: 'PUT',
      headers: [{ key: 'X-Key', value: 'caf\u00e9' }],
      body: '{"ok":true}',
    });
    expect(answer).toMatchObject({ status: 201, headers: { 'x-twice': 'a, b' } });
    expect(answer.durationMs).toBeGreaterThan(0);
    expect(JSON.parse(responseText(answer))).toEqual({
      method: 'PUT',
      url: '/a/b?c=d',
      body: '{"ok":true}',
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        connection: 'close',
        'content-length': '11',
        host: `localhost:${server.port}`,
        'user-agent': 'Callway/test',
        'x-key': 'caf\u00e9',
      },
    });
  });

  it('uses the name for TLS and the Host header when it connects to the address', async () => {
    let seen: unknown;
    const server = await serve(
      (request, response) => {
        seen = { host: request.headers.host, sni: (request.socket as { servername?: string }).servername };
        response.end();
      },
      { secure: true },
    );
    const answer = await client({ lookup: async () => ['127.0.0.1'] }).request(
      get(`https://hook.test:${server.port}/`),
    );
    expect(answer.status).toBe(200);
    expect(seen).toEqual({ host: `hook.test:${server.port}`, sni: 'hook.test' });
  });

  it('verifies the certificate for an address when the URL has no name', async () => {
    const server = await serve((_request, response) => response.end(), { secure: true });
    await expect(client().request(get(`https://127.0.0.1:${server.port}/`))).resolves.toMatchObject({
      status: 200,
    });
  });

  it('rejects a certificate for another name and one of an unknown authority', async () => {
    const server = await serve((_request, response) => response.end(), { secure: true });
    const lookup = async () => ['127.0.0.1'];
    const other = get(`https://other.test:${server.port}/`);
    await expect(client({ lookup }).request(other)).rejects.toMatchObject({ code: 'tls_failed' });
    const known = get(`https://hook.test:${server.port}/`);
    await expect(client({ lookup, buildConnector: undefined }).request(known)).rejects.toMatchObject({
      code: 'tls_failed',
    });
  });

  it('trusts the certificates in NODE_EXTRA_CA_CERTS', async () => {
    const server = await serve((_request, response) => response.end(), { secure: true });
    const program = fileURLToPath(new URL('../fixtures/tls/request.ts', import.meta.url));
    const run = (extra: Record<string, string>) =>
      promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', program, `https://localhost:${server.port}/`],
        {
          env: { ...process.env, ...extra },
        },
      );
    const authority = fileURLToPath(new URL('../fixtures/tls/ca.pem', import.meta.url));
    expect((await run({ NODE_EXTRA_CA_CERTS: authority })).stdout.trim()).toBe('200');
    expect((await run({ NODE_EXTRA_CA_CERTS: '' })).stdout.trim()).toBe('tls_failed');
  });

  it('returns a redirect and does not follow it', async () => {
    const inside = await serve((_request, response) => response.end('secret'));
    const outside = await serve((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${inside.port}/` });
      response.end();
    });
    const answer = await client().request(get(`http://127.0.0.1:${outside.port}/`));
    expect(answer.status).toBe(307);
    expect(inside.connections()).toBe(0);
  });

  it('sends nothing when a check fails', async () => {
    const asked: string[] = [];
    const guarded = client({
      policy: { allowInsecureLoopback: false },
      buildConnector: () => {
        throw new Error('dialled');
      },
      lookup: async (name) => {
        asked.push(name);
        return ['127.0.0.1'];
      },
    });
    const code = (url: string, more: Partial<GuardedRequest> = {}) =>
      guarded.request({ ...get(url), ...more }).catch((error: HttpClientError) => error.code);
    expect(await code('http://example.com/')).toBe('target_not_https');
    expect(await code('https://127.0.0.1/')).toBe('target_private_address');
    expect(await code('https://localhost/')).toBe('target_private_address');
    expect(await code('https://u:p@example.com/')).toBe('target_has_credentials');
    expect(await code('nonsense')).toBe('target_invalid_url');
    expect(await code('https://a.test/', { headers: [{ key: 'Host', value: 'b' }] })).toBe(
      'target_header_invalid',
    );
    expect(await code('https://a.test/', { headers: [{ key: 'a', value: 'b\r\nHost: c' }] })).toBe(
      'target_header_invalid',
    );
    expect(asked).toEqual([]);
    expect(await code('https://a.test/')).toBe('target_private_address');
    expect(asked).toEqual(['a.test']);
  });
});

describe('Names that change their address', () => {
  it('connects only to the checked address, even when the name has moved to loopback since', async () => {
    const inside = await serve((_request, response) => response.end('secret'), { secure: true });
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    const dialled: object[] = [];
    let lookups = 0;
    const guarded = client({
      policy: { allowInsecureLoopback: false },
      lookup: async () => answers[lookups++] ?? [],
      buildConnector: unreachable(dialled),
    });
    const request = get(`https://rebind.test:${inside.port}/`);
    await expect(guarded.request(request)).rejects.toMatchObject({ code: 'connect_failed' });
    expect(lookups).toBe(1);
    const addresses = [{ address: '8.8.8.8', family: 4 }];
    expect(dialled).toEqual([{ addresses, port: `${inside.port}`, servername: 'rebind.test' }]);
    await expect(guarded.request(request)).rejects.toMatchObject({ code: 'target_private_address' });
    expect(dialled).toHaveLength(1);
    expect(inside.connections()).toBe(0);
  });

  it.each([
    ['a private address among public ones', ['8.8.8.8', '10.0.0.1']],
    ['a mapped loopback address', ['::ffff:127.0.0.1']],
    ['a name instead of an address', ['internal.example.com']],
    ['a non-canonical address', ['0177.0.0.1']],
    ['the address of the metadata service', ['169.254.169.254']],
  ])('rejects %s', async (_what, addresses) => {
    const dialled: object[] = [];
    const guarded = client({
      policy: { allowInsecureLoopback: false },
      lookup: async () => addresses,
      buildConnector: unreachable(dialled),
    });
    await expect(guarded.request(get('https://mixed.test/'))).rejects.toMatchObject({
      code: 'target_private_address',
    });
    expect(dialled).toEqual([]);
  });

  it('rejects plain http to a name outside loopback with any policy', async () => {
    const dialled: object[] = [];
    const guarded = client({ lookup: async () => ['8.8.8.8'], buildConnector: unreachable(dialled) });
    await expect(guarded.request(get('http://localhost/'))).rejects.toMatchObject({
      code: 'target_private_address',
    });
    expect(dialled).toEqual([]);
  });

  it('does not reuse a connection to the old address after the name has moved', async () => {
    const reply =
      (text: string): RequestListener =>
      (_request, response) =>
        response.end(text);
    const old = await serve(reply('old'), { secure: true });
    const moved = await serve(reply('moved'), { secure: true, host: '127.0.0.2', port: old.port });
    const addresses = ['127.0.0.1', '127.0.0.2'];
    const guarded = client({ lookup: async () => [addresses.shift() ?? ''] });
    const texts = [];
    for (let index = 0; index < 2; index += 1) {
      texts.push(responseText(await guarded.request(get(`https://hook.test:${old.port}/`))));
    }
    expect(texts).toEqual(['old', 'moved']);
    expect([old.connections(), moved.connections()]).toEqual([1, 1]);
  });
});

describe('connections', () => {
  it('are new for each request', async () => {
    const server = await serve((_request, response) => response.end());
    const guarded = client();
    for (let count = 0; count < 2; count += 1) await guarded.request(get(`http://127.0.0.1:${server.port}/`));
    expect(server.connections()).toBe(2);
  });

  it('fall back to the next address when one is unreachable', async () => {
    const server = await serve((_request, response) => response.end('here'), {
      secure: true,
      host: '127.0.0.2',
    });
    const guarded = client({ lookup: async () => ['127.0.0.1', '127.0.0.2', '127.0.0.3'] });
    const answer = await guarded.request(get(`https://hook.test:${server.port}/`));
    expect(responseText(answer)).toBe('here');
  });

  it('use a name without its trailing dot for TLS', async () => {
    const server = await serve((_request, response) => response.end(), { secure: true });
    const answer = await client({ lookup: async () => ['127.0.0.1'] }).request(
      get(`https://hook.test.:${server.port}/`),
    );
    expect(answer.status).toBe(200);
  });

  it('are not tried at the next address once TCP is connected', async () => {
    const broken = await serveRaw((socket) => socket.end('hello\r\n'));
    const server = await serve((_request, response) => response.end(), {
      secure: true,
      host: '127.0.0.2',
      port: broken.port,
    });
    const guarded = client({ lookup: async () => ['127.0.0.1', '127.0.0.2'] });
    await expect(guarded.request(get(`https://hook.test:${broken.port}/`))).rejects.toMatchObject({
      code: 'tls_failed',
    });
    expect(server.connections()).toBe(0);
  });

  it.each([
    ['one refused address', ['127.0.0.1']],
    ['several refused addresses', ['127.0.0.1', '127.0.0.2']],
  ])('report %s as connect_failed', async (_what, addresses) => {
    const server = await serve(() => undefined, { secure: true });
    await server.close();
    cleanups.pop();
    const guarded = client({ lookup: async () => addresses });
    await expect(guarded.request(get(`https://hook.test:${server.port}/`))).rejects.toMatchObject({
      code: 'connect_failed',
      category: 'unavailable',
      message: expect.stringContaining('hook.test: ECONNREFUSED'),
    });
  });

  it('leave a silent address after 3 s for the next one, and a last one at the timeout', async () => {
    const silentPort = await listenInSilence();
    const server = await serve((_request, response) => response.end('here'), {
      secure: true,
      host: '127.0.0.2',
      port: silentPort,
    });
    const url = `https://hook.test:${server.port}/`;
    const answer = await client({ lookup: async () => ['127.0.0.1', '127.0.0.2'] }).request(get(url));
    expect(responseText(answer)).toBe('here');
    expect(answer.durationMs).toBeGreaterThanOrEqual(2_990);

    const clock = createSimulatedClock();
    const pending = client({ clock, lookup: async () => ['127.0.0.1'] }).request(get(url));
    await new Promise((resolve) => setTimeout(resolve, 50));
    clock.advance(9_999);
    clock.advance(1);
    await expect(pending).rejects.toMatchObject({ code: 'timeout', category: 'timeout' });
    expect(clock.pendingTimers()).toBe(0);
  });

  it('report a server without TLS as tls_failed', async () => {
    const server = await serveRaw((socket) => socket.end('hello\r\n'));
    await expect(client().request(get(`https://127.0.0.1:${server.port}/`))).rejects.toMatchObject({
      code: 'tls_failed',
    });
  });
});

describe('resolving', () => {
  it.each([
    [
      'fails',
      () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
      /nowhere.test.*ENOTFOUND/,
    ],
    ['finds nothing', () => Promise.resolve([]), /nowhere.test has no address/],
  ])('reports dns_failed when the lookup %s', async (_what, lookup, message) => {
    const error = await client({ lookup })
      .request(get('https://nowhere.test/'))
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(HttpClientError);
    expect(error).toMatchObject({ code: 'dns_failed', message: expect.stringMatching(message) });
  });

  it('counts towards the timeout', async () => {
    const clock = createSimulatedClock();
    const guarded = client({ clock, lookup: () => new Promise(() => undefined) });
    const pending = guarded.request(get('https://slow.test/'));
    clock.advance(10_000);
    await expect(pending).rejects.toMatchObject({ code: 'timeout' });
  });
});

/** Records what would be dialled, instead of the network; each connection fails. */
function unreachable(dialled: object[]): BuildConnector {
  return (options) =>
    ({ hostname, port }, callback) => {
      if (!('lookup' in options)) throw new Error('the addresses are not pinned');
      options.lookup?.(hostname, { all: true }, (_error, addresses) => {
        dialled.push({ addresses, port, servername: 'servername' in options && options.servername });
        callback(Object.assign(new Error('unreachable'), { syscall: 'connect' }), null);
      });
    };
}

/** Listens on a port of 127.0.0.1 where connections neither open nor fail: the queue of those that wait is full. */
async function listenInSilence(): Promise<number> {
  const program = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    require('node:fs').writeSync(1, String(this.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  const port = Number(String((await once(child.stdout, 'data'))[0]));
  const waiting = Array.from({ length: 4 }, () => net.connect({ host: '127.0.0.1', port }));
  cleanups.push(async () => waiting.forEach((socket) => void socket.on('error', () => undefined).destroy()));
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, 'connect')));
  return port;
}
