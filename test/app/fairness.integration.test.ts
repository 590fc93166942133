import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import { type ScriptedUpstream, saying, startScriptedUpstream } from '../support/scriptedUpstream.ts';

const TURNS = 30;
/** What a busy machine adds to the slowest turn. A bomb without a bound holds up every turn for seconds. */
const SLACK_MS = 250;

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let victim: TestProject;

beforeAll(async () => {
  upstream = await startScriptedUpstream({ steps: saying('Good day.') });
  gateway = await startTestGateway({
    env: { OPENAI_BASE_URL: upstream.baseUrl, RATE_LIMIT_PER_MINUTE: '0' },
  });
  victim = await gateway.createProject();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const NESTED = { var: 'list' };
const LOOPS =
  '{% for a in (1..900) %}{% for b in (1..900) %}{% assign c = b | append: a %}{% endfor %}{% endfor %}';

/** Pathways of one node whose prompt or edges cost as much as they may. */
const ATTACKS: readonly [string, object][] = [
  ['templates with loops', pathway(LOOPS.repeat(20))],
  [
    'templates with long lists',
    pathway('{% for a in (1..190) %}{{ list | sort | join | size }}{% endfor %}'),
  ],
  [
    'templates with doubling texts',
    pathway(`{% assign a = "aaaaaaaa" %}${'{% assign a = a | append: a %}'.repeat(40)}`),
  ],
  [
    'expressions in expressions',
    pathway('Hi.', { map: [NESTED, { reduce: [NESTED, { cat: [{ var: '' }, NESTED] }, ''] }] }),
  ],
  [
    'expressions with long texts',
    pathway('Hi.', { in: ['b', { reduce: [NESTED, { cat: [{ var: 'text' }, { var: 'text' }] }, ''] }] }),
  ],
];

test('Projects with costly templates and expressions cost the others no more than plain chats do', async () => {
  const plainMs = await slowestBeside(ATTACKS.map(() => pathway('Be kind.')));
  const attackedMs = await slowestBeside(ATTACKS.map(([, graph]) => graph));
  expect(attackedMs).toBeLessThan(2 * plainMs + SLACK_MS);
});

/** The slowest of a project's chats while others with these pathways chat, too. */
async function slowestBeside(graphs: readonly object[]): Promise<number> {
  const stop = new AbortController();
  const others = await Promise.all(graphs.map((graph) => createOther(graph)));
  const attacks = others.map(async ({ other, session_id }) => {
    while (!stop.signal.aborted) await chat(other, { session_id });
  });
  const found = await latencies(TURNS);
  stop.abort();
  await Promise.all(attacks);
  return Math.max(...found);
}

async function createOther(graph: object): Promise<{ other: TestProject; session_id: string }> {
  const other = await gateway.createProject();
  const saved = await gateway.api('PUT', `${other.path}/pathway`, { key: other.developerKey, body: graph });
  expect(saved.status).toBe(200);
  const variables = { list: Array.from({ length: 900 }, (_, n) => `${n % 7}`), text: 'a'.repeat(50_000) };
  const session_id = `of-${other.id}`;
  const created = await gateway.api('POST', `${other.path}/sessions`, {
    key: other.developerKey,
    body: { session_id, variables },
  });
  expect(created.status).toBe(200);
  return { other, session_id };
}

async function latencies(turns: number): Promise<number[]> {
  const found: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const startedMs = performance.now();
    expect(await chat(victim)).toBe(200);
    found.push(performance.now() - startedMs);
  }
  return found;
}

async function chat(project: TestProject, more: object = {}): Promise<number> {
  const response = await fetch(`${gateway.url}${project.path}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${project.developerKey}`,
      'content-type': 'application/json',
      'x-agent-version': 'draft',
    },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi.' }], ...more }),
  });
  await response.arrayBuffer();
  return response.status;
}

function pathway(prompt: string, condition?: object) {
  const nodes = [
    { id: 'start', type: 'start', data: { title: 'Start', prompt } },
    { id: 'next', type: 'end', data: { title: 'Next', prompt: 'Bye.' } },
  ];
  const edges = condition
    ? Array.from({ length: 50 }, (_, n) => ({
        id: `e${n}`,
        source: 'start',
        target: 'next',
        data: { condition: { and: [condition, n, false] } },
      }))
    : [];
  return { nodes, edges };
}
