import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, interceptors } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';

import type { ByteStream } from '../../../src/providers/openai/byteStream.ts';
import { beginningOf, postStreaming } from '../../../src/providers/openai/streamingPost.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const NEVER = new AbortController().signal;

interface Posted {
  readonly signal: AbortSignal;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** @returns Posts to a server that answers so. */
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
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: 1 }));
  return (path = '/', { signal = NEVER, headers = {}, body = '' }: Partial<Posted> = {}) =>
    postStreaming(dispatcher, { url: new URL(path, url), headers, body }, signal);
}

async function textOf(bytes: ByteStream): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await bytes.read(); piece; piece = await bytes.read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('sends what it is given, and asks for bytes that are not packed', async () => {
  const post = await scene(async (request, response) => {
    const { method, url: path, headers } = request;
    const body = (await request.toArray()).join('');
    response.end([method, path, headers['x-key'], headers['accept-encoding'], body].join(' '));
  });
  const { status, body } = await post('/a?b=c', { headers: { 'x-key': 'k' }, body: 'hi' });
  expect(status).toBe(200);
  expect(await textOf(body)).toBe('POST /a?b=c k identity hi');
});

test('a failure is an answer too, whose beginning is enough', async () => {
  const post = await scene((_request, response) => {
    response.writeHead(429, { 'retry-after': '7' }).end('x'.repeat(200_000));
  });
  const { status, headers, body } = await post();
  expect([status, headers['retry-after']]).toEqual([429, '7']);
  expect(await beginningOf(body, 65_536)).toBe('x'.repeat(65_536));
});

test('follows a moved endpoint', async () => {
  const post = await scene((request, response) => {
    if (request.url === '/old') response.writeHead(308, { location: '/new' }).end();
    else response.end(`${request.method} ${request.url}`);
  });
  const { body } = await post('/old', { body: '{}' });
  expect(await textOf(body)).toBe('POST /new');
});

test('a slow reader makes the sender wait, and misses nothing', async () => {
  const total = 64 * 1_048_576;
  let sent = 0;
  const post = await scene((_request, response) => {
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
  const { body: bytes } = await post();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(sent).toBeLessThan(total / 2);
  let received = 0;
  for (let piece = await bytes.read(); piece; piece = await bytes.read()) received += piece.length;
  expect(received).toBe(total);
});

describe('an abort', () => {
  const reason = new Error('the caller left');

  test('before the request', async () => {
    const post = await scene((_request, response) => response.end());
    await expect(post('/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('while the answer is waited for, and the endpoint notices', async () => {
    const leaving = new AbortController();
    let left: () => void = () => undefined;
    const noticed = new Promise<void>((resolve) => {
      left = resolve;
    });
    const post = await scene((request) => {
      request.socket.on('close', left);
      leaving.abort(reason);
    });
    await expect(post('/', { signal: leaving.signal })).rejects.toBe(reason);
    await noticed;
  });

  test('in the middle of an answer', async () => {
    const leaving = new AbortController();
    const post = await scene((_request, response) => response.write('first'));
    const { body: bytes } = await post('/', { signal: leaving.signal });
    expect(Buffer.from((await bytes.read()) ?? []).toString()).toBe('first');
    const next = bytes.read();
    leaving.abort(reason);
    await expect(next).rejects.toBe(reason);
  });
});

test('a connection that breaks is an error of the read', async () => {
  const post = await scene((_request, response) => {
    response.write('first', () => response.socket?.resetAndDestroy());
  });
  const { body: bytes } = await post();
  await expect(textOf(bytes)).rejects.toMatchObject({
    code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/),
  });
});

test('a reader that leaves breaks the answer off', async () => {
  let left: () => void = () => undefined;
  const noticed = new Promise<void>((resolve) => {
    left = resolve;
  });
  const post = await scene((request, response) => {
    request.socket.on('close', left);
    response.write('first');
  });
  const { body: bytes } = await post();
  await bytes.read();
  bytes.cancel();
  bytes.cancel();
  await noticed;
});
