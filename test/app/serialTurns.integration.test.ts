import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTwoGateways } from '../support/gateway.ts';
import {
  chunk,
  done,
  type RequestBody,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scriptedUpstream.ts';

const TURNS = 12;

let upstream: ScriptedUpstream;
let nodes: Awaited<ReturnType<typeof startTwoGateways>>;
let atOnce = 0;
let mostAtOnce = 0;
beforeAll(async () => {
  upstream = await startScriptedUpstream((body, { outcome }) => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    void outcome.then(() => {
      atOnce -= 1;
    });
    const answer = `Answer to ${lastWords(body)}.`;
    return { steps: [{ waitMs: 20 }, chunk({ content: answer }), chunk({}, 'stop'), done] };
  });
  nodes = await startTwoGateways({ OPENAI_BASE_URL: upstream.baseUrl });
});
afterAll(async () => {
  await nodes?.stop();
  await upstream?.close();
});

const lastWords = ({ messages }: RequestBody) =>
  (messages as { role: string; content: string }[]).findLast(({ role }) => role === 'user')?.content ?? '';

test('Concurrent turns of one session on two nodes run one after the other', async () => {
  const project = await nodes.first.createProject();
  await nodes.first.api('PUT', `${project.path}/pathway`, {
    key: project.developerKey,
    body: {
      nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Answer.' } }],
      edges: [],
    },
  });
  const words = Array.from({ length: TURNS }, (_, index) => `question ${index}`);
  const answers = await Promise.all(
    words.map((content, index) =>
      (index % 2 === 0 ? nodes.first : nodes.second).api('POST', `${project.path}/chat/completions`, {
        key: project.developerKey,
        headers: { 'x-session-id': 'shared' },
        body: { messages: [{ role: 'user', content }] },
      }),
    ),
  );
  expect(answers.map(({ status, body }) => [status, body.choices[0].message.content])).toEqual(
    words.map((content) => [200, `Answer to ${content}.`]),
  );
  expect(mostAtOnce).toBe(1);

  const { body } = await nodes.second.api('GET', `${project.path}/sessions/shared`, {
    key: project.developerKey,
  });
  const kept = body.state.messages as { role: string; content: string }[];
  const pairs = Array.from({ length: TURNS }, (_, index) => kept.slice(2 * index, 2 * index + 2));
  expect(pairs.map((pair) => pair.map(({ content }) => content))).toEqual(
    pairs.map(([asked]) => [asked?.content, `Answer to ${asked?.content}.`]),
  );
  expect(pairs.map(([asked]) => asked?.content).toSorted()).toEqual(words.toSorted());
});
