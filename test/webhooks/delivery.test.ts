import { createHmac } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/values/clock.ts';
import { createGuardedHttpClient, type GuardedHttpClient } from '../../src/http/client.ts';
import { HttpClientError } from '../../src/http/errors.ts';
import { DELIVERY_TIMEOUT_MS, deliver, signatureHeaders } from '../../src/webhooks/delivery.ts';
import { makeSigningSecret } from '../../src/webhooks/signingSecrets.ts';
import { useCleanups } from '../support/cleanups.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';

const secrets = [makeSigningSecret()];
const body = '{"event":"session.ended"}';
const cleanups = useCleanups();

describe('signatureHeaders', () => {
  const delivery = { deliveryId: '019cebdc-9a10', body: '{"a":"é"}' };

  it('signs with each secret, so that holders of either accept the delivery during a rotation', () => {
    const [current, previous, other] = [makeSigningSecret(), makeSigningSecret(), makeSigningSecret()];
    const headers = signatureHeaders({ ...delivery, secrets: [current, previous] }, Date.now());
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const holder of [current, previous])
      expect(new Webhook(holder).verify(delivery.body, headers)).toEqual({ a: 'é' });
    expect(() => new Webhook(other).verify(delivery.body, headers)).toThrow('No matching signature');
    expect(() => new Webhook(current).verify('{"a":"e"}', headers)).toThrow('No matching signature');
  });

  it('has the time in whole seconds, and the signature of the scheme', () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const signed = createHmac('sha256', Buffer.alloc(32, 1))
      .update(`${delivery.deliveryId}.1773480413.${delivery.body}`)
      .digest('base64');
    expect(signatureHeaders({ ...delivery, secrets: [secret] }, 1_773_480_413_999)).toEqual({
      'webhook-id': delivery.deliveryId,
      'webhook-timestamp': '1773480413',
      'webhook-signature': `v1,${signed}`,
    });
  });
});

describe('deliver', () => {
  it('posts the signed body with the user’s headers', async () => {
    let received: { method?: string; headers: Record<string, string>; body: string } | undefined;
    const server = await serve(async (request, response) => {
      const { method = '' } = request;
      received = { method, headers: request.headers as Record<string, string>, body: await text(request) };
      response.writeHead(204).end();
    });
    const result = await send(server, {
      headers: [
        { key: 'Authorization', value: 'Bearer abc' },
        { key: 'Content-Type', value: 'text/plain' },
        { key: 'Webhook-Signature', value: 'v1,forged' },
        { key: 'webhook-extra', value: '1' },
      ],
    });
    expect(result).toEqual({ ok: true, status: 204, answer: null, durationMs: expect.any(Number) });
    expect(received).toMatchObject({
      method: 'POST',
      body,
      headers: {
        authorization: 'Bearer abc',
        'content-type': 'application/json',
        'webhook-id': 'delivery-1',
      },
    });
    expect(received?.headers).not.toHaveProperty('webhook-extra');
    expect(new Webhook(secrets[0] ?? '').verify(body, received?.headers ?? {})).toEqual({
      event: 'session.ended',
    });
  });

  it.each([
    [200, 'taken'],
    [299, 'taken'],
    [300, 'a redirect'],
    [399, 'a redirect'],
    [400, 'refused'],
    [500, 'refused'],
  ])('reports status %i as %s, and does not send again', async (status, outcome) => {
    const server = await serve((_request, response) =>
      response.writeHead(status, { location: '/again' }).end(),
    );
    const result = await send(server);
    expect(result).toMatchObject({ ok: outcome === 'taken', status });
    expect(result.error?.code).toBe(outcome === 'taken' ? undefined : 'unexpected_status');
    expect(result.error?.message.includes('redirects are not followed') ?? false).toBe(
      outcome === 'a redirect',
    );
    expect(server.connections()).toBe(1);
  });

  it.each([
    ['of text', 'taken\t\u2713\r\n', 'taken\t\u2713'],
    ['of HTML, as it came', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['of nothing', ' \n', null],
    ['of a picture', Buffer.from('\x89PNG\r\n', 'latin1'), null],
    ['of compressed text', gzipSync('text'), null],
    ['with a NUL', 'a\u0000b', null],
    ['with an escape sequence', '\u001b[2J', null],
    ['of 2,001 characters, up to 2,000', 'x'.repeat(2001), 'x'.repeat(2000)],
    [
      'of 8,001 bytes, up to the last whole character',
      `a${'\u{1f600}'.repeat(2000)}`,
      `a${'\u{1f600}'.repeat(1999)}`,
    ],
  ])('reads an answer %s', async (_what, sent, answer) => {
    const server = await serve((_request, response) => response.writeHead(500).end(sent));
    expect(await send(server, {}, createSimulatedClock())).toMatchObject({ status: 500, answer });
  });

  it('gives up after ten seconds', async () => {
    const clock = createSimulatedClock();
    const server = await serve(() => clock.advance(DELIVERY_TIMEOUT_MS));
    await expect(send(server, {}, clock)).resolves.toMatchObject({
      ok: false,
      error: { code: 'timeout' },
      durationMs: 10_000,
    });
  });

  it.each([
    ['of the client', new HttpClientError('dns_failed', 'no.test has no address'), 'dns_failed'],
    ['of the code', new TypeError('secret detail'), 'internal_error'],
    ['that is no error', 'odd', 'internal_error'],
  ])('turns a failure %s into a result', async (_what, failure, code) => {
    const client = { request: () => Promise.reject(failure) };
    const target = { url: 'https://no.test/', headers: [] };
    const request = { target, body, secrets, deliveryId: 'delivery-1' };
    const result = await deliver(request, {
      client: unused<GuardedHttpClient>('client', client),
      clock: systemClock,
    });
    expect(result).toMatchObject({ ok: false, error: { code, cause: failure } });
    expect(result.error?.message).not.toContain('secret detail');
  });
});

function send(
  server: LoopbackServer,
  target: { headers?: { key: string; value: string }[] } = {},
  clock = systemClock,
) {
  const { headers = [] } = target;
  return deliver(
    {
      target: { url: `http://127.0.0.1:${server.port}/hook`, headers },
      body,
      secrets,
      deliveryId: 'delivery-1',
    },
    { client: guarded(clock), clock },
  );
}

function guarded(clock = systemClock): GuardedHttpClient {
  const client = createGuardedHttpClient({
    policy: { allowInsecureLoopback: true },
    clock,
    userAgent: 'Callway/test',
  });
  cleanups.push(() => client.close());
  return client;
}

async function serve(...args: Parameters<typeof serveOnLoopback>): Promise<LoopbackServer> {
  const server = await serveOnLoopback(...args);
  cleanups.push(() => server.close());
  return server;
}
