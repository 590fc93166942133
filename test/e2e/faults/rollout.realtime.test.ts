import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test, vi } from 'vitest';

import { createClient } from '../../support/gateway.ts';
import { serveOnLoopback } from '../../support/loopbackServer.ts';
import { SLOW } from '../phone/support/line.ts';
import type { Role } from './support/cluster.ts';
import { sharedRig } from './support/rig.ts';
import { report, requiresAllFaults } from './support/table.ts';

const TIMEOUT = 300_000;
const ALL: readonly Role[] = ['api', 'worker', 'voice', 'media'];
const CUSTOMERS = Array.from({ length: 48 }, (_, index) => `customer ${index}`);
const EVENTS = ['rollout.started', 'rollout.rolled_back'];

const told: { type: string; data: { verdict: string | null; figures: object[] } }[] = [];
const receiver = await serveOnLoopback(async (request, response) => {
  told.push(JSON.parse(await text(request)));
  response.writeHead(204).end();
});
afterAll(() => receiver.close());

const rig = sharedRig({ nodes: [ALL, ALL] });
describe('a rollout on two nodes', { ...requiresAllFaults, timeout: TIMEOUT }, () => {
  test('keeps each person on a release, is rolled back over a kill -9, and is told once', async () => {
    const { line, cluster, people } = rig();
    const apis = await Promise.all(
      cluster.nodes.map(async ({ url }) => {
        const { api } = await createClient(url, line.developerKey);
        return async (method: string, path: string, body?: object) => {
          const request = { key: line.developerKey, ...(body ? { body } : {}) };
          return (await api(method, line.path + path, request)).body;
        };
      }),
    );
    const [first, second] = apis;
    if (!first || !second) throw new Error('two nodes are needed');
    const eventWebhook = { url: `http://127.0.0.1:${receiver.port}/`, events: EVENTS };
    await first('PATCH', '/agent', { eventWebhook });
    await first('PATCH', '/agent', { status: 'draft', globalPrompt: 'Be brief.' });
    const { release } = await first('POST', '/agent/publish', { live: false });
    const guards = [{ metric: 'duration', max: 1 }];
    const { id, previousRelease } = await first('POST', '/rollouts', { release, percent: 50, guards });

    let chats = 0;
    const chatReleases = (on: typeof first) =>
      Promise.all(
        CUSTOMERS.map(async (customerId) => {
          chats += 1;
          const session_id = `chat-${chats}`;
          await on('POST', '/sessions', { session_id, variables: { customerId } });
          return (await on('GET', `/sessions/${session_id}`)).state.release;
        }),
      );
    const numbers = Array.from({ length: 6 }, () => people.answering(0));
    const callReleases = () =>
      Promise.all(
        numbers.map(async (toNumber) => (await line.waitForEnd(await line.call({ toNumber }))).release),
      );
    const before = await chatReleases(first);
    expect(new Set(before)).toEqual(new Set([previousRelease, release]));
    expect(await chatReleases(second)).toEqual(before);
    const called = await callReleases();
    expect(await callReleases()).toEqual(called);

    await second('PATCH', `/rollouts/${id}`, { percent: 80 });
    const after = await chatReleases(first);
    expect(before.every((one, index) => one === previousRelease || after[index] === release)).toBe(true);
    expect(await chatReleases(second)).toEqual(after);

    const ending = Promise.all(
      Array.from({ length: chats }, (_, chat) =>
        second('DELETE', '/sessions', { session_id: `chat-${chat + 1}` }),
      ),
    );
    const killedMs = performance.now();
    await cluster.nodes[0]?.process.kill();
    await ending;
    await vi.waitFor(
      async () => expect((await second('GET', `/rollouts/${id}`)).status).toBe('rolled_back'),
      { timeout: 90_000, interval: 250 },
    );
    const seconds = Math.round((performance.now() - killedMs) / 1000);
    await cluster.nodes[0]?.restart();
    expect(await chatReleases(first)).toEqual(CUSTOMERS.map(() => previousRelease));
    expect(await chatReleases(second)).toEqual(CUSTOMERS.map(() => previousRelease));
    expect(await callReleases()).toEqual(numbers.map(() => previousRelease));

    const { decision } = await second('GET', `/rollouts/${id}`);
    expect(decision).toMatchObject({ reason: 'guard', figures: [{ metric: 'duration', max: 1 }] });
    await vi.waitFor(() => expect(told.map(({ type }) => type)).toEqual(EVENTS), SLOW);
    expect(told[1]?.data).toMatchObject({ verdict: 'bad', figures: decision.figures });
    report({
      what: 'Node lost while it judges a rollout',
      done: `kill -9 of one of two nodes, ${chats} chats and ${numbers.length * 2} calls after the start at 50 % and then 80 %`,
      seen: `the same release for the same person on both nodes; rolled back by the other one after ${seconds} s, with one event of each kind; the next calls and chats of both have the old release`,
    });
  });
});
