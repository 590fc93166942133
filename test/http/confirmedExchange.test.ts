import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import net, { type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/values/clock.ts';
import { createGuardedHttpClient, type GuardedRequest } from '../../src/http/client.ts';
import { useCleanups } from '../support/cleanups.ts';
import { listenOnLoopback, serveOnLoopback } from '../support/loopbackServer.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { trustingTestAuthority } from './support/clients.ts';

const BODY = '{"event":"session.ended"}';
const excerpt = { maxBytes: 100, bodyTimeoutMs: 10_000 };
/** Larger than the socket buffers of both ends. */
const LONG = Buffer.alloc(32_000_000, 0x61);
const cleanups = useCleanups();

describe('A request with a confirmation before its last byte', () => {
  it('is sent up to that byte, with its full length and without chunked encoding', async () => {
    const wire = await serveBytes();
    const leave = askedLeave();
    const answer = post(wire.url, { confirmBeforeLastByte: leave.ask });
    await leave.asked;
    await vi.waitFor(() => expect(wire.text()).toContain('"session.ended"'));
    await pause();
    const [head = '', body] = wire.text().split('\r\n\r\n');
    expect(head.toLowerCase()).toContain(`content-length: ${BODY.length}`);
    expect(head.toLowerCase()).not.toContain('transfer-encoding');
    expect(body).toBe(BODY.slice(0, -1));

    leave.give();
    await vi.waitFor(() => expect(wire.text().endsWith(BODY)).toBe(true));
    wire.say('HTTP/1.1 204 No Content\r\n\r\n');
    expect(await answer).toMatchObject({ status: 204 });
    expect(leave.count()).toBe(1);
  });

  it.each([
    ['no body', undefined, ''],
    ['an empty body', '', ''],
    ['one byte', 'a', 'a'],
    ['two bytes', 'ab', 'ab'],
    ['a last character of several bytes', 'voil\u00e0', 'voil\u00e0'],
    ['bytes', new Uint8Array([0x7b, 0x7d]), '{}'],
  ])('arrives complete with %s', async (_what, body, expected) => {
    const { url, taken } = await serve((request, response) => request.on('end', () => response.end()));
    const leave = askedLeave();
    const answer = post(url, { body, confirmBeforeLastByte: leave.ask });
    await leave.asked;
    await pause();
    expect(taken.whole).toEqual([]);
    leave.give();
    expect(await answer).toMatchObject({ status: 200 });
    expect(taken.whole).toEqual([expected]);
  });

  it('asks for the confirmation when a long body has been accepted, and not before', async () => {
    let drain = () => {};
    const { url, taken } = await serve((request, response) => {
      request.pause();
      drain = () => void request.resume().on('end', () => response.end());
    });
    const leave = askedLeave();
    const answer = post(url, { body: LONG, confirmBeforeLastByte: leave.ask });
    await vi.waitFor(() => expect(taken.begun).toBe(1));
    await pause();
    expect(leave.count()).toBe(0);
    drain();
    await leave.asked;
    leave.give();
    expect(await answer).toMatchObject({ status: 200 });
    expect(taken.whole.map(({ length }) => length)).toEqual([LONG.length]);
  });

  it.each([false, true])(
    'is withdrawn when the confirmation is denied, and was never complete (TLS: %s)',
    async (secure) => {
      const { url, taken } = await serve(
        (request, response) => request.on('end', () => response.end()),
        secure,
      );
      const refusal = new Error('another node has it');
      const answer = post(url, { confirmBeforeLastByte: () => Promise.reject(refusal) });
      await expect(answer).rejects.toMatchObject({ code: 'aborted', cause: refusal });
      await vi.waitFor(() => expect(taken.aborted).toBe(1));
      expect(taken.whole).toEqual([]);
    },
  );

  it.each([
    ['one byte', 'a'],
    ['none', undefined],
  ])('is not started when the confirmation is denied for a body of %s', async (_what, body) => {
    const { url, taken } = await serve((_request, response) => response.end());
    const answer = post(url, { body, confirmBeforeLastByte: () => Promise.reject(new Error('no')) });
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
    await pause();
    expect(taken.begun).toBe(0);
  });

  it('does not ask for a confirmation when it fails before', async () => {
    const gone = await serveBytes();
    const [{ url }, plain] = [await serve((_request, response) => response.end(), true), await serveBytes()];
    await gone.close();
    const leave = askedLeave();
    const code = (at: string, more: Partial<GuardedRequest> = {}) =>
      post(at, { confirmBeforeLastByte: leave.ask, ...more }).catch((error: { code: string }) => error.code);
    expect(await code(gone.url)).toBe('connect_failed');
    expect(await code(url.replace('localhost', 'hook.test'))).toBe('dns_failed');
    expect(await code('https://10.0.0.1/')).toBe('target_private_address');
    const answered = code(plain.url.replace('http:', 'https:'));
    await plain.connected();
    plain.say('220 mail.test ESMTP\r\n');
    expect(await answered).toBe('tls_failed');
    expect(leave.count()).toBe(0);
  });

  it('does not ask for a confirmation when it fails during the body', async () => {
    const { url } = await serve((request) => {
      request.pause();
      setTimeout(() => request.socket.destroy(), 20);
    });
    const leave = askedLeave();
    await expect(post(url, { body: LONG, confirmBeforeLastByte: leave.ask })).rejects.toMatchObject({
      code: 'connection_lost',
    });
    await pause();
    expect(leave.count()).toBe(0);
  });

  it('fails at once when the connection is lost during the confirmation', async () => {
    const wire = await serveBytes();
    const leave = askedLeave();
    const answer = post(wire.url, { confirmBeforeLastByte: leave.ask });
    await leave.asked;
    wire.drop();
    await expect(answer).rejects.toMatchObject({ code: 'connection_lost' });
    leave.give();
    await pause();
  });

  it('is aborted at the timeout during the confirmation', async () => {
    const clock = createSimulatedClock();
    const { url, taken } = await serve((request, response) => request.on('end', () => response.end()));
    const leave = askedLeave();
    const answer = post(url, { confirmBeforeLastByte: leave.ask, timeoutMs: 10_000 }, clock);
    await leave.asked;
    await vi.waitFor(() => expect(taken.begun).toBe(1));
    clock.advance(10_000);
    await expect(answer).rejects.toMatchObject({ code: 'timeout' });
    leave.give();
    await vi.waitFor(() => expect(taken.aborted).toBe(1));
    expect(taken.whole).toEqual([]);
  });
});

describe('A response before the last byte', () => {
  it.each([
    ['with headers only', 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n', 401, ''],
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['with a body', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', 200, 'ok'],
    [
      'after an informational response',
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n',
      410,
      '',
    ],
  ])('%s is used after the confirmation, and the rest is sent', async (_what, bytes, status, text) => {
    const wire = await serveBytes();
    const leave = askedLeave();
    let isDone = false;
    const answer = post(wire.url, { confirmBeforeLastByte: leave.ask }).finally(() => {
      isDone = true;
    });
    await leave.asked;
    wire.say(bytes);
    await pause();
    expect(isDone).toBe(false);
    leave.give();
    expect(await answer).toMatchObject({ status, body: Buffer.from(text) });
    await vi.waitFor(() => expect(wire.text().endsWith(BODY)).toBe(true));
  });

  it.each([false, true])(
    'leaves the request complete when the server reads the body afterwards (TLS: %s)',
    async (secure) => {
      const { url, taken } = await serve((_request, response) => response.writeHead(204).end(), secure);
      for (const options of [{ excerpt }, {}]) {
        const leave = askedLeave();
        const answer = post(url, { ...options, confirmBeforeLastByte: leave.ask });
        await leave.asked;
        await pause();
        leave.give();
        expect(await answer).toMatchObject({ status: 204 });
      }
      await vi.waitFor(() => expect(taken.whole).toEqual([BODY, BODY]));
    },
  );

  it.each([
    ['stays', false],
    ['closes', true],
  ])(
    'of a server that never reads a long body and %s is used after the confirmation',
    async (_what, closes) => {
      const wire = await serveBytes({ reads: false });
      const leave = askedLeave();
      const answer = post(wire.url, { body: LONG, excerpt, confirmBeforeLastByte: leave.ask });
      await wire.connected();
      await pause();
      expect(leave.count()).toBe(0);
      wire.say('HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n', closes);
      await leave.asked;
      await pause();
      leave.give();
      expect(await answer).toMatchObject({ status: 413 });
      expect(leave.count()).toBe(1);
    },
  );

  it('is used when the server has closed the connection meanwhile', async () => {
    const wire = await serveBytes();
    const leave = askedLeave();
    const answer = post(wire.url, { excerpt, confirmBeforeLastByte: leave.ask });
    await leave.asked;
    wire.say('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n', true);
    await pause();
    leave.give();
    expect(await answer).toMatchObject({ status: 401 });
  });

  it.each([
    ['a short body', BODY],
    ['an unread body', LONG],
  ])('is not used when the confirmation is denied, with %s', async (_what, body) => {
    const wire = await serveBytes({ reads: body === BODY });
    const leave = askedLeave();
    const answer = post(wire.url, { body, excerpt, confirmBeforeLastByte: leave.ask });
    await wire.connected();
    wire.say('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    await leave.asked;
    leave.refuse();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
    // A server that does not read does not notice that the client has closed.
    if (body === BODY) await vi.waitFor(() => expect(wire.open()).toBe(0));
    expect(wire.text().endsWith('}')).toBe(false);
  });
});

/** A confirmation that the test grants or denies. */
function askedLeave() {
  let [give, refuse, tellAsked] = [() => {}, () => {}, () => {}];
  let count = 0;
  const given = new Promise<void>((resolve, reject) => {
    give = resolve;
    refuse = () => reject(new Error('refused'));
  });
  const asked = new Promise<void>((resolve) => {
    tellAsked = resolve;
  });
  const ask = () => {
    count += 1;
    tellAsked();
    return given;
  };
  return { ask, asked, give: () => give(), refuse: () => refuse(), count: () => count };
}

function post(
  url: string,
  more: Omit<Partial<GuardedRequest>, 'body'> & { body?: string | Uint8Array | undefined },
  clock = systemClock,
) {
  const { body = 'body' in more ? undefined : BODY, ...others } = more;
  const client = createGuardedHttpClient({
    policy: { allowInsecureLoopback: true },
    clock,
    userAgent: 'Callway/test',
    buildConnector: trustingTestAuthority,
    lookup: async (name) => (name === 'localhost' ? ['127.0.0.1'] : []),
  });
  cleanups.push(() => client.close());
  const request = { method: 'POST' as const, url, timeoutMs: 10_000, ...others };
  return client.request(body === undefined ? request : { ...request, body });
}

interface Taken {
  begun: number;
  aborted: number;
  readonly whole: string[];
}

/** An HTTP server that records complete and aborted requests. */
async function serve(listener: RequestListener, secure = false) {
  const taken: Taken = { begun: 0, aborted: 0, whole: [] };
  const server = await serveOnLoopback(
    (request, response) => {
      taken.begun += 1;
      note(request, taken);
      listener(request, response);
    },
    { secure },
  );
  cleanups.push(() => server.close());
  return { taken, url: `${secure ? 'https' : 'http'}://localhost:${server.port}/hook` };
}

function note(request: IncomingMessage, taken: Taken): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => taken.whole.push(Buffer.concat(chunks).toString()));
  request.on('error', () => undefined);
  request.on('close', () => {
    if (!request.complete) taken.aborted += 1;
  });
}

/** A server whose output the test controls. */
async function serveBytes({ reads = true }: { reads?: boolean } = {}) {
  const chunks: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = net.createServer({ pauseOnConnect: !reads }, (socket) => {
    sockets.push(socket);
    if (reads) socket.on('data', (chunk) => chunks.push(chunk));
  });
  const listening = await listenOnLoopback(server);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= listening.close();
    return closing;
  };
  cleanups.push(close);
  return {
    url: `http://localhost:${listening.port}/hook`,
    text: () => Buffer.concat(chunks).toString(),
    open: listening.open,
    close,
    async connected() {
      if (sockets.length === 0) await once(server, 'connection');
    },
    say(bytes: string, closes = false) {
      for (const socket of sockets) {
        socket.write(bytes);
        if (closes) socket.end();
      }
    },
    drop() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 40));
