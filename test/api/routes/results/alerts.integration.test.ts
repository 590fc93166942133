import { describe, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
const call = (project: TestProject, method: string, path: string, body?: unknown, key?: string) =>
  gateway().api(method, `${project.path}${path}`, { key: key ?? project.developerKey, body });
const ALERT = { name: 'Few successes', metric: 'success', windowMinutes: 60, below: 0.8 };
const HEADERS = [{ key: 'x-token', value: 'secret words' }];

describe('Alerts', () => {
  test('are created, listed, changed and deleted, and the audit log says so', async () => {
    const project = await gateway().createProject();
    const filter = { release: 3, success: false, channel: 'phone' };
    const { status, body: created } = await call(project, 'POST', '/alerts', { ...ALERT, filter });
    expect([status, created]).toEqual([
      201,
      {
        ...ALERT,
        id: expect.any(String),
        filter,
        minCount: 20,
        enabled: true,
        webhook: null,
        state: 'ok',
        since: created.createdAt,
        lastValue: null,
        createdAt: expect.any(String),
        updatedAt: created.createdAt,
      },
    ]);
    const path = `/alerts/${created.id}`;
    const change = { name: 'Few', above: 0.9, minCount: 5, windowMinutes: 5, filter: {}, enabled: false };
    const { body: changed } = await call(project, 'PATCH', path, change);
    expect(changed).toMatchObject({ ...change, metric: 'success' });
    expect(changed.below).toBeUndefined();
    expect((await call(project, 'GET', '/alerts')).body.data).toMatchObject([{ name: 'Few' }]);
    expect((await call(project, 'DELETE', path)).status).toBe(204);
    expect(await call(project, 'GET', path)).toMatchObject({
      status: 404,
      body: { code: 'alert_not_found' },
    });
    const { body: log } = await gateway().api('GET', `${project.path}/audit-log`);
    expect(log.data.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['alert.created', 'alert.updated', 'alert.deleted']),
    );
  });

  test('show the values of headers to keys that may write alone', async () => {
    const project = await gateway().createProject();
    const { key: readKey } = await gateway().createKey(project, { kind: 'developer', scopes: ['read'] });
    const webhook = { url: 'https://example.com/alerts', headers: HEADERS };
    const { body: created } = await call(project, 'POST', '/alerts', { ...ALERT, webhook });
    expect(created.webhook).toEqual(webhook);
    for (const path of ['/alerts', `/alerts/${created.id}`]) {
      expect(JSON.stringify((await call(project, 'GET', path)).body)).toContain('secret words');
      const shown = JSON.stringify((await call(project, 'GET', path, undefined, readKey)).body);
      expect(shown).toContain('x-token');
      expect(shown).not.toContain('secret words');
    }
  });

  test.each<[object, string]>([
    [{ below: undefined }, 'either above or below'],
    [{ above: 0.9 }, 'either above or below'],
    [{ metric: 'latency' }, 'metric'],
    [{ metric: 'judgeAgreement' }, 'metric'],
    [{ windowMinutes: 0 }, 'windowMinutes'],
    [{ windowMinutes: 1441 }, 'windowMinutes'],
    [{ minCount: -1 }, 'minCount'],
    [{ filter: { colour: 'red' } }, 'filter'],
    [{ filter: { release: 'latest' } }, 'release'],
    [{ webhook: { url: 'http://127.0.0.1/' } }, 'webhook'],
    [{ webhook: { url: 'https://10.0.0.1/' } }, 'webhook'],
    [{ webhook: { url: 'ftp://example.com/' } }, 'webhook'],
    [{ webhook: { url: 'https://example.com/', headers: [{ key: 'host', value: 'x' }] } }, 'headers'],
  ])('are refused with %j', async (fault, message) => {
    const project = await gateway().createProject();
    const { status, body } = await call(project, 'POST', '/alerts', { ...ALERT, ...fault });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(message)]);
  });
});
