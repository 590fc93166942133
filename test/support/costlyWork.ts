/** What a project may do at the most cost to a node: attacks for tests and benchmarks of fairness. */

const LOOPS =
  '{% for a in (1..900) %}{% for b in (1..900) %}{% assign c = b | append: a %}{% endfor %}{% endfor %}';
const LIST = { var: 'list' };
const JOINED = { cat: [{ var: 'text' }, { var: 'text' }] };
/** Of the sessions in which the turns are taken. */
export const VARIABLES = {
  list: Array.from({ length: 900 }, (_, n) => `${n % 7}`),
  text: 'a'.repeat(50_000),
};
const REQUIRED = Array.from({ length: 100 }, (_, n) => ({
  name: `v${n}`,
  type: 'string',
  description: 'A value.',
  required: true,
}));
const MANY_OUTPUTS = '{{q}}'.repeat(299);

/** Pathways whose prompts or edges cost a turn as much as they may. */
export const COSTLY_TURNS: readonly [name: string, pathway: object, agent?: object][] = [
  ['loops', pathway(LOOPS.repeat(20))],
  ['sorted lists', pathway('{% for a in (1..190) %}{{ list | sort | join | size }}{% endfor %}')],
  ['dates', pathway('{% for a in (1..230) %}{{ "2026-01-01" | date: "%c" }}{% endfor %}')],
  ['missing variables', pathway(MANY_OUTPUTS)],
  ['missing variables far apart', pathway(`{{q}}${'x'.repeat(95)}`.repeat(190))],
  [
    'nested expressions',
    pathway('Hi.', { map: [LIST, { reduce: [LIST, { cat: [{ var: '' }, LIST] }, ''] }] }),
  ],
  ['long texts in expressions', pathway('Hi.', { in: ['b', { reduce: [LIST, JOINED, ''] }] })],
  [
    'required variables',
    {
      nodes: [node('n0', ''), { id: 'n1', type: 'say', data: { title: 'Said', prompt: MANY_OUTPUTS } }],
      edges: [{ id: 'e', source: 'n0', target: 'n1', data: { condition: null } }],
    },
    { variableConfigs: REQUIRED },
  ],
  [
    'all steps in one prompt',
    { nodes: Array.from({ length: 60 }, (_, n) => node(`n${n}`, MANY_OUTPUTS)), edges: [] },
    { type: 'monolithic' },
  ],
];

const ZEROS = Array.from({ length: 60_000 }, () => 0);
export const HI = { role: 'user', content: 'Hi.' };
const BIG = Array.from({ length: 400 }, (_, n) => node(`n${n}`, 'y'.repeat(4_000)));
const history = (length: number) =>
  Array.from({ length }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: 'a'.repeat(60) }));

/** Requests that cost as much as they may, and their statuses. Paths follow the project's. */
export const COSTLY_REQUESTS: readonly [
  name: string,
  method: string,
  path: string,
  body: object,
  statuses: readonly number[],
][] = [
  ['the longest chats', 'POST', '/chat/completions', { messages: [...history(2_046), HI] }, [200]],
  ['longer chats', 'POST', '/chat/completions', { messages: [...history(25_000), HI] }, [400, 413]],
  [
    'chats of a long text',
    'POST',
    '/chat/completions',
    { messages: [{ role: 'user', content: '字'.repeat(1_000_000) }] },
    [200],
  ],
  ['wrong messages', 'POST', '/chat/completions', { messages: ZEROS.map(() => ({ role: 'user' })) }, [413]],
  ['wrong biases', 'POST', '/chat/completions', { messages: [HI], logit_bias: ZEROS }, [413]],
  ['large pathways', 'PUT', '/pathway', { nodes: BIG, edges: [] }, [200]],
  ['pathways of many values', 'PUT', '/pathway', { nodes: ZEROS, edges: [] }, [400]],
  ['reviews', 'POST', '/pathway/validate', { nodes: BIG, edges: [] }, [200]],
  ['many outputs', 'PATCH', '/agent', { globalPrompt: '{{q|b}}'.repeat(5_000) }, [400]],
  [
    'outputs in many lines',
    'PATCH',
    '/agent',
    { globalPrompt: `{{q|b}}${'\n'.repeat(190)}`.repeat(480) },
    [400],
  ],
];

function node(id: string, prompt: string) {
  return { id, type: id === 'n0' ? 'start' : 'conversation', data: { title: id, prompt } };
}

/** Its edges are judged one after the other, since none holds. */
export function pathway(prompt: string, condition?: object) {
  const edges = Array.from({ length: condition ? 50 : 0 }, (_, n) => ({
    id: `e${n}`,
    source: 'n0',
    target: 'next',
    data: { condition: { and: [condition, n, false] } },
  }));
  return { nodes: [node('n0', prompt), node('next', 'Bye.')], edges };
}
