import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { makeApiKey } from '../../../src/agents/accounts/apiKey.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import { ADMIN_TOKEN, createTestApp, type TestApp } from '../support/testApp.ts';

const SUNSET = '2026-06-10T12:00:00.000Z';
const DAY_MS = 86_400_000;
const NOW = '2026-06-01T00:00:00.000Z';

describe('A legacy route', () => {
  let testApp: TestApp;
  let projectId: string;
  let secretKey: string;
  beforeEach(async () => {
    testApp = await createTestApp({ legacySunset: new Date(SUNSET) });
    onTestFinished(() => testApp.close());
    testApp.app.get(
      '/project/:projectId/thing/:thingId',
      {
        config: {
          access: { kind: 'legacy', scope: 'calls' },
          successor: '/v1/projects/:projectId/things/:thingId',
        },
      },
      async () => ({ fine: true }),
    );
    projectId = await addProject();
    secretKey = await addKey('secret');
  });

  async function addProject() {
    const id = uuidV7();
    const settings = { sessionIdleMinutes: 5, historyRetentionDays: 0, reportUsage: true };
    const times = { createdAt: NOW, updatedAt: NOW };
    await testApp.storage.stores.projects.insert({ id, name: 'p', ...settings, ...times });
    return id;
  }
  async function addKey(kind: 'secret' | 'developer') {
    const { key, ...made } = makeApiKey(kind);
    const scopes = ['calls' as const];
    const names = { id: uuidV7(), projectId, name: 'k', kind, scopes, createdAt: NOW, lastUsedAt: null };
    await testApp.storage.stores.apiKeys.insert({ ...made, ...names });
    return key;
  }
  const ask = (key = secretKey) =>
    testApp.app.inject({
      url: `/project/${projectId}/thing/a%20b?x=1`,
      headers: { authorization: `Bearer ${key}` },
    });
  const usage = async () =>
    (
      await testApp.app.inject({
        url: `/v1/projects/${projectId}/legacy-usage`,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      })
    ).json();

  test('works before the sunset and announces sunset and successor', async () => {
    const answer = await ask();

    expect([answer.statusCode, answer.json()]).toEqual([200, { fine: true }]);
    expect(answer.headers).toMatchObject({
      deprecation: '@1768089600',
      sunset: 'Wed, 10 Jun 2026 12:00:00 GMT',
      link: `</v1/projects/${projectId}/things/a%20b>; rel="successor-version"`,
    });
  });

  test('is 410 from the sunset on, with or without a key', async () => {
    testApp.clock.advance(Date.parse(SUNSET) - Date.parse(NOW) - 1);
    expect((await ask()).statusCode).toBe(200);
    testApp.clock.advance(1);

    for (const answer of [await ask(), await ask('rubbish')]) {
      expect(answer.statusCode).toBe(410);
      expect(answer.json()).toEqual({
        error: expect.stringContaining('2026-06-10'),
        code: 'legacy_route_removed',
        successor: `/v1/projects/${projectId}/things/a%20b`,
      });
      expect(answer.headers.sunset).toBe('Wed, 10 Jun 2026 12:00:00 GMT');
    }
  });

  test('is counted by day when the request was authorized', async () => {
    for (const key of [secretKey, secretKey, 'rubbish']) {
      const { statusCode, headers } = await ask(key);
      expect([statusCode, headers.deprecation]).toEqual([key === 'rubbish' ? 401 : 200, '@1768089600']);
    }
    testApp.clock.advance(DAY_MS);
    expect((await ask()).statusCode).toBe(200);
    const route = 'GET /project/:projectId/thing/:thingId';

    const usageLater = () => {
      testApp.clock.advance(5_000);
      return usage();
    };
    await expect.poll(usageLater).toEqual({
      sunset: SUNSET,
      total: 3,
      data: [
        { day: '2026-06-02', route, requests: 1 },
        { day: '2026-06-01', route, requests: 2 },
      ],
    });
    const metrics = (await testApp.app.inject('/metrics')).body;
    expect(metrics).toContain(`callway_legacy_requests_total{project="${projectId}",route="${route}"} 3`);
    testApp.clock.advance(29 * DAY_MS);
    expect((await usage()).total).toBe(1);
    testApp.clock.advance(DAY_MS);
    expect(await usage()).toEqual({ sunset: SUNSET, total: 0, data: [] });
  });

  test('is counted up to the last request before a shutdown', async () => {
    await ask();
    await testApp.app.close();

    const kept = await testApp.storage.stores.legacyUsage.since(projectId, '2026-06-01');
    expect(kept).toMatchObject([{ requests: 1 }]);
  });
});
