import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/values/clock.ts';
import type { HttpClientError } from '../../src/http/errors.ts';
import { responseText } from '../../src/http/response.ts';
import { HOSTILE_ANSWERS, HOSTILE_ERRORS, startHostileServer } from '../support/hostileAnswers.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { get, until, useClients } from './support/clients.ts';

/** Of what is read, and on its way between two sockets. */
const MAX_SENT_BYTES = 32 * 1024 * 1024;

const { cleanups, client, serve, serveRaw } = useClients();

describe('hostile answers', () => {
  it.each([
    ['never answers', () => undefined],
    [
      'sends its body byte by byte',
      (_request, response) => {
        response.write('x');
        const drip = setInterval(() => response.write('x'), 5);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ] satisfies [string, RequestListener][])('time out when the server %s', async (_what, listener) => {
    const clock = createSimulatedClock();
    const server = await serve(listener);
    const pending = client({ clock }).request(get(`http://127.0.0.1:${server.port}/`));
    await until(() => server.connections() === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    clock.advance(9_999);
    const early = await Promise.race([
      pending.then(
        () => 'done',
        () => 'failed',
      ),
      Promise.resolve('pending'),
    ]);
    expect(early).toBe('pending');
    clock.advance(1);
    await expect(pending).rejects.toMatchObject({ code: 'timeout' });
    await until(() => server.open() === 0);
  });

  it.each([
    ['announced', (_request, response) => response.writeHead(200, { 'content-length': 1e9 }).write('x')],
    [
      'endless with chunked encoding',
      (_request, response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      },
    ],
    [
      'with oversized headers',
      (_request, response) => response.writeHead(200, { big: 'x'.repeat(20_000) }).end(),
    ],
  ] satisfies [string, RequestListener][])(
    'are aborted when they are too large: %s',
    async (_what, listener) => {
      const server = await serve(listener);
      const pending = client().request({
        ...get(`http://127.0.0.1:${server.port}/`),
        maxResponseBytes: 100_000,
      });
      await expect(pending).rejects.toMatchObject({ code: 'response_too_large' });
      await until(() => server.open() === 0);
    },
  );

  it.each(Object.entries(HOSTILE_ERRORS))(
    'are cut when they are an error %s: the status counts',
    async (_, error) => {
      const server = await startHostileServer(error());
      cleanups.push(() => server.close());
      const answer = await client().request(get(`http://127.0.0.1:${server.port}/`));
      expect(answer).toMatchObject({ status: 500, body: { length: 65_536 } });
      await until(() => server.open() === 0);
      expect(server.sentBytes()).toBeLessThan(MAX_SENT_BYTES);
    },
  );

  it.each(Object.entries(HOSTILE_ANSWERS))('are refused without the end %s', async (_, endless) => {
    const server = await startHostileServer(endless());
    cleanups.push(() => server.close());
    const pending = client().request(get(`http://127.0.0.1:${server.port}/`));
    await expect(pending).rejects.toMatchObject({ code: 'response_too_large' });
    await until(() => server.open() === 0);
    expect(server.sentBytes()).toBeLessThan(MAX_SENT_BYTES);
  });

  it('are accepted at the maximum length', async () => {
    const server = await serve((_request, response) => response.end(Buffer.alloc(1000)));
    const request = (maxResponseBytes: number) =>
      client().request({ ...get(`http://127.0.0.1:${server.port}/`), maxResponseBytes });
    expect((await request(1000)).body).toHaveLength(1000);
    await expect(request(999)).rejects.toMatchObject({ code: 'response_too_large' });
  });

  it('are decompressed by who reads them, within a limit', async () => {
    const packed = gzipSync(Buffer.alloc(10_000_000));
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(packed);
    });
    const answer = await client().request(get(`http://127.0.0.1:${server.port}/`));
    expect(digest(answer.body)).toBe(digest(packed));
    expect(() => responseText(answer)).toThrow(expect.objectContaining({ code: 'response_too_large' }));
  });

  it.each([
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'response_invalid'],
    ['is truncated', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'connection_lost'],
    [
      'has two content lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      'response_invalid',
    ],
    ['is nothing', '', 'connection_lost'],
  ])('are rejected when the response %s', async (_what, bytes, code) => {
    const server = await serveRaw((socket) => socket.end(bytes));
    await expect(client().request(get(`http://127.0.0.1:${server.port}/`))).rejects.toMatchObject({ code });
  });

  it('are closed after their beginning when only an excerpt is read', async () => {
    const server = await serve((_request, response) => response.writeHead(200).write('drip'));
    const excerpt = { maxBytes: 2, bodyTimeoutMs: 10_000 };
    const answer = await client().request({ ...get(`http://127.0.0.1:${server.port}/`), excerpt });
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('dr') });
    await until(() => server.open() === 0);
  });

  it('are used without the excerpt that does not come in time, however late they are', async () => {
    const clock = createSimulatedClock();
    const delays: number[] = [];
    const setTimer: Clock['setTimer'] = (callback, delayMs) => {
      delays.push(delayMs);
      return clock.setTimer(callback, delayMs);
    };
    const server = await serve((_request, response) => {
      clock.advance(9_999);
      response.writeHead(200).flushHeaders();
    });
    const excerpt = { maxBytes: 2, bodyTimeoutMs: 700 };
    const request = { ...get(`http://127.0.0.1:${server.port}/`), excerpt };
    const pending = client({ clock: { ...clock, setTimer } }).request(request);
    await until(() => delays.includes(700));
    clock.advance(700);
    expect(await pending).toMatchObject({ status: 200, body: Buffer.alloc(0), durationMs: 10_699 });
    await until(() => server.open() === 0);
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('aborting', () => {
  it('ends a running request and rejects one that has not started', async () => {
    const server = await serve(() => undefined);
    const controller = new AbortController();
    const request = { ...get(`http://127.0.0.1:${server.port}/`), signal: controller.signal };
    const pending = client().request(request);
    await until(() => server.connections() === 1);
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: 'aborted' });
    await until(() => server.open() === 0);
    await expect(client().request(request)).rejects.toMatchObject({ code: 'aborted' });
    expect(server.connections()).toBe(1);
  });

  it('applies to all running requests when the client closes', async () => {
    const server = await serve(() => undefined);
    const guarded = client();
    const results = [1, 2].map(() =>
      guarded
        .request(get(`http://127.0.0.1:${server.port}/`))
        .catch((error: HttpClientError) => [error.code, error.message]),
    );
    await until(() => server.connections() === 2);
    await guarded.close('the service stops');
    expect(await Promise.all(results)).toEqual([
      ['aborted', 'the service stops'],
      ['aborted', 'the service stops'],
    ]);
    await until(() => server.open() === 0);
    const late = guarded.request(get(`http://127.0.0.1:${server.port}/`));
    await expect(late).rejects.toMatchObject({ code: 'aborted' });
    expect(server.connections()).toBe(2);
  });
});

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
