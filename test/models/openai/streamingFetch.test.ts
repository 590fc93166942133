import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, interceptors } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';

import type { ByteStream } from '../../../src/models/openai/byteStream.ts';
import { createStreamingFetch } from '../../../src/models/openai/streamingFetch.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function scene(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const agent = new Agent();
  closers.push(() => agent.destroy());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    ...createStreamingFetch(agent.compose(interceptors.redirect({ maxRedirections: 1 }))),
  };
}

async function textOf(bytes: ByteStream): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await bytes.read(); piece; piece = await bytes.read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('sends what it is given, and asks for bytes that are not packed', async () => {
  const { url, fetch, bytesOf } = await scene(async (request, response) => {
    const { method, url: path, headers } = request;
    const body = (await request.toArray()).join('');
    response.end([method, path, headers['x-key'], headers['accept-encoding'], body].join(' '));
  });
  const response = await fetch(`${url}/a?b=c`, { method: 'POST', headers: { 'x-key': 'k' }, body: 'hi' });
  expect(response.status).toBe(200);
  expect(await textOf(bytesOf(response))).toBe('POST /a?b=c k identity hi');
});

test('a failure has its body, cut where it is no message any more', async () => {
  const { url, fetch, bytesOf } = await scene((_request, response) => {
    response.writeHead(429, { 'retry-after': '7' }).end('x'.repeat(200_000));
  });
  const response = await fetch(url);
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
  expect((await response.text()).length).toBe(65_536);
  expect(() => bytesOf(response)).toThrow(TypeError);
});

test('follows a moved endpoint', async () => {
  const { url, fetch, bytesOf } = await scene((request, response) => {
    if (request.url === '/old') response.writeHead(308, { location: '/new' }).end();
    else response.end(`${request.method} ${request.url}`);
  });
  const response = await fetch(`${url}/old`, { method: 'POST', body: '{}' });
  expect(await textOf(bytesOf(response))).toBe('POST /new');
});

test('a slow reader makes the sender wait, and misses nothing', async () => {
  const total = 64 * 1_048_576;
  let sent = 0;
  const { url, fetch, bytesOf } = await scene((_request, response) => {
    const piece = Buffer.alloc(65_536, 7);
    const more = () => {
      while (sent < total) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  const bytes = bytesOf(await fetch(url));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(sent).toBeLessThan(total / 2);
  let received = 0;
  for (let piece = await bytes.read(); piece; piece = await bytes.read()) received += piece.length;
  expect(received).toBe(total);
});

describe('an abort', () => {
  const reason = new Error('the caller left');

  test('before the request', async () => {
    const { url, fetch } = await scene((_request, response) => response.end());
    await expect(fetch(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('while the answer is waited for, and the endpoint notices', async () => {
    const leaving = new AbortController();
    let left: () => void = () => undefined;
    const noticed = new Promise<void>((resolve) => {
      left = resolve;
    });
    const { url, fetch } = await scene((request) => {
      request.socket.on('close', left);
      leaving.abort(reason);
    });
    await expect(fetch(url, { signal: leaving.signal })).rejects.toBe(reason);
    await noticed;
  });

  test('in the middle of an answer', async () => {
    const leaving = new AbortController();
    const { url, fetch, bytesOf } = await scene((_request, response) => response.write('first'));
    const bytes = bytesOf(await fetch(url, { signal: leaving.signal }));
    expect(Buffer.from((await bytes.read()) ?? []).toString()).toBe('first');
    const next = bytes.read();
    leaving.abort(reason);
    await expect(next).rejects.toBe(reason);
  });
});

test('a connection that breaks is an error of the read', async () => {
  const { url, fetch, bytesOf } = await scene((_request, response) => {
    response.write('first', () => response.socket?.resetAndDestroy());
  });
  const bytes = bytesOf(await fetch(url));
  await expect(textOf(bytes)).rejects.toMatchObject({
    code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/),
  });
});

test('a reader that leaves breaks the answer off', async () => {
  let left: () => void = () => undefined;
  const noticed = new Promise<void>((resolve) => {
    left = resolve;
  });
  const { url, fetch, bytesOf } = await scene((request, response) => {
    request.socket.on('close', left);
    response.write('first');
  });
  const bytes = bytesOf(await fetch(url));
  await bytes.read();
  bytes.cancel();
  bytes.cancel();
  await noticed;
});
