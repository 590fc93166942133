import { describe, expect, test } from 'vitest';

import { sharedGateway, startTestGateway } from '../../support/gateway.ts';

const gateway = sharedGateway({ env: { CORS_ORIGINS: 'https://app.example.com' } });

describe('CORS', () => {
  const preflight = (origin: string, method: string) =>
    fetch(`${gateway().url}/v1/projects`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,if-match,idempotency-key',
      },
    });

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'allows %s from a configured origin',
    async (method) => {
      const { headers, status } = await preflight('https://app.example.com', method);

      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
      expect(headers.get('access-control-allow-methods')?.split(/, ?/)).toContain(method);
      expect(headers.get('access-control-allow-headers')).toContain('if-match');
    },
  );

  test('exposes the request id, also in a preflight', async () => {
    const { headers } = await preflight('https://app.example.com', 'GET');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const numbers = await (await fetch(`${gateway().url}/metrics`)).text();
    expect(numbers).toMatch(/_count\{method="OPTIONS",route="[^"]+",status="204"\} [1-9]/);
  });

  test.each<[string, Record<string, string>]>([
    ['no origin', {}],
    ['an origin and no method to ask for', { origin: 'https://app.example.com' }],
    ['a method to ask for and no origin', { 'access-control-request-method': 'GET' }],
  ])('treats OPTIONS with %s as a method, 405 with Allow', async (_, headers) => {
    const answer = await fetch(`${gateway().url}/v1/projects`, { method: 'OPTIONS', headers });

    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual({
      error: 'OPTIONS is not allowed here; allowed are GET, HEAD, POST',
      code: 'method_not_allowed',
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe(headers.origin ?? null);
  });

  test('allows no other origin, and none without configuration', async () => {
    const stranger = await preflight('https://evil.example', 'GET');
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull();

    const closed = await startTestGateway();
    const headers = { origin: 'https://app.example.com' };
    const answer = await closed.api('GET', '/healthz', { headers });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    await closed.stop();
  });
});
