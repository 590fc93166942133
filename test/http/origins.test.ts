import { describe, expect, test } from 'vitest';

import { sharedGateway, startTestGateway } from '../support/gateway.ts';

const gateway = sharedGateway({ env: { CORS_ORIGINS: 'https://app.example.com' } });

describe('pages of other origins', () => {
  const preflight = (origin: string, method: string) =>
    fetch(`${gateway().url}/v1/projects`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,if-match,idempotency-key',
      },
    });

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('that are named may %s', async (method) => {
    const { headers, status } = await preflight('https://app.example.com', method);

    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(headers.get('access-control-allow-methods')?.split(/, ?/)).toContain(method);
    expect(headers.get('access-control-allow-headers')).toContain('if-match');
  });

  test('that are not named may nothing, and no origin may where none is named', async () => {
    const stranger = await preflight('https://evil.example', 'GET');
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull();

    const closed = await startTestGateway();
    const headers = { origin: 'https://app.example.com' };
    const answer = await closed.api('GET', '/healthz', { headers });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    await closed.stop();
  });
});
