import { describe, expect, test } from 'vitest';

import { type ApiAnswer, startTestGateway, startTwoGateways } from '../../support/gateway.ts';

const minute = () => Math.floor(Date.now() / 60_000);

/** Repeats the attempt until it lies within one clock minute, the window of the limits. */
async function withinOneMinute<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const begun = minute();
    const result = await attempt();
    if (minute() === begun) return result;
  }
}

function expectRefusal(answer: ApiAnswer | undefined) {
  expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  const seconds = Number(answer?.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
}

describe('Requests with one key', () => {
  test('are limited to five per minute over two nodes', async () => {
    const nodes = await startTwoGateways({ RATE_LIMIT_PER_MINUTE: '5' });
    const project = await nodes.first.createProject();
    const answers = await withinOneMinute(async () => {
      const { key } = await nodes.first.createKey(project);
      return await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          (index % 2 === 0 ? nodes.first : nodes.second).api('GET', `${project.path}/agent`, { key }),
        ),
      );
    });

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer);
    const { key } = await nodes.first.createKey(project);
    expect((await nodes.second.api('GET', `${project.path}/agent`, { key })).status).toBe(200);
    await nodes.stop();
  });

  test('share the limit of their project, which other projects do not', async () => {
    const nodes = await startTwoGateways({ RATE_LIMIT_PROJECT_PER_MINUTE: '6' });
    const [project, other] = [await nodes.first.createProject(), await nodes.first.createProject()];
    const answers = await withinOneMinute(async () => {
      const keys = [project.secretKey, project.developerKey, (await nodes.first.createKey(project)).key];
      return await Promise.all(
        keys.flatMap((key) =>
          Array.from({ length: 5 }, () => nodes.second.api('GET', `${project.path}/agent`, { key })),
        ),
      );
    });
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(6);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer);
    const unaffected = await nodes.second.api('GET', `${other.path}/agent`, { key: other.secretKey });
    expect(unaffected.status).toBe(200);
    await nodes.stop();
  });

  test('are not limited when the limit is 0', async () => {
    const gateway = await startTestGateway({ env: { RATE_LIMIT_PER_MINUTE: '0' } });
    const { path, developerKey: key } = await gateway.createProject();

    for (let turn = 0; turn < 30; turn += 1) {
      expect((await gateway.api('GET', `${path}/agent`, { key })).status).toBe(200);
    }
    await gateway.stop();
  });
});

describe('Rejected credentials from one address', () => {
  test('are limited to five per minute, and refuse no good key of the address', async () => {
    const gateway = await startTestGateway({ env: { RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '5' } });
    const project = await gateway.createProject();
    const { path, developerKey: known } = project;
    const { key: unseen } = await gateway.createKey(project);
    const ask = (key: string | null) => gateway.api('GET', `${path}/agent`, { key });
    const answers = await withinOneMinute(async () => {
      await ask(known);
      const failures = [];
      for (let turn = 0; turn < 8; turn += 1) failures.push(await ask(turn % 2 === 0 ? 'rubbish' : null));
      return [...failures, await ask(unseen), await ask(known), await gateway.api('GET', path)];
    });

    expect(answers.map(({ status }) => status).slice(-3)).toEqual([200, 200, 200]);
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5);
    expectRefusal(answers[7]);
    await gateway.stop();
  });

  test('in a flood delay a new key of the same address by little', async () => {
    const nodes = await startTwoGateways({ RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '5' });
    const project = await nodes.first.createProject();
    const { path } = project;
    const ask = (key: string) => nodes.first.api('GET', `${path}/agent`, { key });
    let isOver = false;
    const statuses = new Set<number>();
    const flood = Array.from({ length: 30 }, async (_, index) => {
      for (let turn = 0; !isOver; turn += 1) {
        const forged = `sk_${`${index}x${turn}`.padEnd(43, 'x')}`;
        statuses.add((await ask(forged)).status);
      }
    });
    const delays: number[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      const { key } = await nodes.second.createKey(project);
      const startedMs = performance.now();
      expect((await ask(key)).status).toBe(200);
      delays.push(performance.now() - startedMs);
    }
    isOver = true;
    await Promise.all(flood);
    // One of them may come while other tests take the machine.
    expect(delays.sort((a, b) => a - b)[5]).toBeLessThan(2_000);
    expect([...statuses].sort()).toEqual([401, 429]);
    await nodes.stop();
  });
});

describe('Requests without a key', () => {
  test.each(['/metrics', '/openapi.json'])(
    'for %s are limited to 60 a minute of one source',
    async (path) => {
      const gateway = await startTestGateway({ env: { TRUST_PROXY: '1' } });
      const headersOf = (address: string) => ({ 'x-forwarded-for': address });
      // Not by the client, which checks each document against itself.
      const ask = async (address: string) => {
        const response = await fetch(`${gateway.url}${path}`, { headers: headersOf(address) });
        await response.body?.cancel();
        return response.status;
      };
      const { statuses, refused } = await withinOneMinute(async () => {
        const address = `198.51.100.${minute() % 250}`;
        return {
          statuses: await Promise.all(Array.from({ length: 69 }, () => ask(address))),
          refused: await gateway.api('GET', path, { key: null, headers: headersOf(address) }),
        };
      });
      expect(statuses.filter((status) => status === 200)).toHaveLength(60);
      expectRefusal(refused);
      expect(await ask('203.0.113.1')).toBe(200);
      await gateway.stop();
    },
  );

  test('to ask for a widget’s origin do not refuse each other, however many come at once', async () => {
    const gateway = await startTestGateway();
    const project = await gateway.createProject();
    const origin = 'https://shop.example';
    await gateway.api('POST', `${project.path}/widget-tokens`, { body: { allowedOrigins: [origin] } });
    const preflight = async (from: string) => {
      const { status } = await fetch(`${gateway.url}${project.path}/chat/completions`, {
        method: 'OPTIONS',
        headers: { origin: from, 'access-control-request-method': 'POST' },
      });
      return status;
    };
    const flood = Array.from({ length: 600 }, (_, index) => preflight(`https://evil.example:${index + 1}`));
    expect(await preflight(origin)).toBe(204);
    expect(new Set(await Promise.all(flood))).not.toContain(429);
    await gateway.stop();
  });
});
