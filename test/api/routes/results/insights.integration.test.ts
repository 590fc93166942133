import { describe, expect, test, vi } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
const get = (project: TestProject, path: string) =>
  gateway().api('GET', `${project.path}/insights${path}`, { key: project.developerKey });

describe('Insights', () => {
  test('tell of a session soon after its end, and of none of another project', async () => {
    const [project, other] = [await gateway().createProject(), await gateway().createProject()];
    const body = { session_id: 's', provider: 'shop' };
    const key = project.developerKey;
    expect((await gateway().api('POST', `${project.path}/sessions`, { key, body })).status).toBeLessThan(300);
    const chat = { session_id: 's', messages: [{ role: 'user', content: 'Hello' }] };
    expect(
      (await gateway().api('POST', `${project.path}/chat/completions`, { key, body: chat })).status,
    ).toBe(200);
    await gateway().api('DELETE', `${project.path}/sessions`, { key, body: { session_id: 's' } });
    await vi.waitFor(
      async () => expect((await get(project, '?metric=sessions')).body.total).toEqual({ value: 1, n: 1 }),
      { timeout: 20_000, interval: 500 },
    );
    const { body: grouped } = await get(project, '?metric=turns&groupBy=provider&interval=hour');
    expect(grouped.series).toEqual([{ key: 'shop', points: [{ at: expect.any(String), value: 1, n: 1 }] }]);
    const { body: latency } = await get(project, '?metric=latency');
    expect(latency.series[0]).toMatchObject({ key: 'total', points: [{ n: 1, p50: expect.any(Number) }] });
    const { body: funnel } = await get(project, '/funnel?channel=chat');
    expect(funnel.nodes[0]).toMatchObject({ nodeId: 'start', entered: 1, title: expect.any(String) });
    expect((await get(project, '?metric=sessions&channel=phone')).body).toEqual({
      series: [],
      total: { value: 0, n: 0 },
    });
    expect((await get(other, '?metric=sessions')).body.series).toEqual([]);
  });

  test('answer every metric with every grouping, interval and filter', async () => {
    const project = await gateway().createProject();
    const { body: document } = await gateway().api('GET', '/openapi.json');
    const parameters: { name: string; in: string; schema: { enum?: string[] } }[] =
      document.paths['/v1/projects/{projectId}/insights'].get.parameters;
    const valuesOf = (name: string) => parameters.find((one) => one.name === name)?.schema.enum ?? [];
    expect(valuesOf('groupBy')).toHaveLength(10);
    const queries = valuesOf('metric').flatMap((metric) =>
      ['endReasons', 'dispositions', 'judgeAgreement'].includes(metric)
        ? [{ metric }]
        : valuesOf('groupBy').map((groupBy) => ({ metric, groupBy })),
    );
    const ofWay =
      'release=3&disposition=a&success=true&channel=web&direction=inbound&endReason=idle&trunkId=0197a000-0000-7000-8000-000000000000&campaignId=0197a000-0000-7000-8000-000000000000&agentId=a&language=en';
    const filter = `${ofWay}&node=end&provider=shop`;
    for (const query of queries)
      for (const interval of valuesOf('interval')) {
        const path = `?${new URLSearchParams({ ...query, interval })}&${filter}`;
        expect([path, (await get(project, path)).status]).toEqual([path, 200]);
      }
    expect((await get(project, `/funnel?${ofWay}`)).body).toEqual({ nodes: [] });
  });

  test.each([
    ['', 'metric'],
    ['?metric=speed', 'metric'],
    ['?metric=sessions&groupBy=colour', 'groupBy'],
    ['?metric=sessions&interval=minute', 'interval'],
    ['?metric=sessions&from=2026-02-01&to=2026-01-01', 'from must not be later than to'],
    ['?metric=sessions&from=2020-01-01&interval=hour', 'choose a longer interval'],
    ['?metric=endReasons&groupBy=release', 'leave out groupBy'],
    ['?metric=judgeAgreement&groupBy=release', 'leave out groupBy'],
    ['?metric=sessions&part=answer', 'metric sessions has no parts'],
    ['?metric=latency&part=answer&groupBy=disposition', 'not counted by disposition'],
    ['?metric=latency&part=answer&success=true', 'not counted by success'],
    ['?metric=sessions&release=latest', 'release'],
    ['?metric=sessions&success=yes', 'success'],
    ['?metric=sessions&trunkId=main', 'trunkId'],
    ['?metric=sessions&chanel=chat', 'chanel'],
    ['/funnel?from=2026-02-01&to=2026-01-01', 'from must not be later than to'],
    ['/funnel?metric=sessions', 'metric'],
    ['/funnel?node=start', 'node'],
    ['/funnel?provider=shop', 'provider'],
  ])('refuse what has no answer: %s', async (path, message) => {
    const project = await gateway().createProject();
    const { status, body } = await get(project, path);
    expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
  });
});
