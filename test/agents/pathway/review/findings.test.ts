import { expect, test } from 'vitest';
import { NO_CALL_LIMITS } from '../../../../src/agents/accounts/callLimits.ts';
import { newAgentConfig } from '../../../../src/agents/agentConfig.ts';
import { type ReviewOptions, reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import { transferRefusal } from '../../../../src/calls/limits/destinations.ts';
import { sketch, sketchEdge, sketchNode } from '../support/sketch.ts';

/** Each finding: what is wrong, where it is reported, and a change of the graph that mends it. */
interface Finding {
  readonly title: string;
  readonly code: string;
  readonly severity?: 'error' | 'warning';
  /** The id of a node or an edge; null for one of the whole pathway. */
  readonly at: string | null;
  readonly nodes: readonly object[];
  readonly edges: readonly object[];
  readonly mended: { readonly nodes?: readonly object[]; readonly edges?: readonly object[] };
  readonly options?: Partial<ReviewOptions>;
}

const start = sketchNode('s', 'start');
const conversation = sketchNode('c', 'conversation');
const end = sketchNode('e', 'end');
const say = (id: string, data: object = {}) => sketchNode(id, 'say', data);
const toEnd = (from: string, condition?: object | string) =>
  sketchEdge(`${from}>e`, condition === undefined ? {} : { condition });
const silence = (afterMs?: number) => ({ event: 'silence', ...(afterMs === undefined ? {} : { afterMs }) });
const result = (more: object = {}) => ({ event: 'tool_result', ...more });
const noted = (args: object) => sketchNode('t', 'tool', { tools: ['set_variable'], arguments: args });
const whenOpen = { '==': [{ var: 'state' }, 'open'] };
const required = [{ name: 'orderNumber', type: 'string' as const, description: '', required: true }];

const FINDINGS: readonly Finding[] = [
  {
    title: 'a node that cannot be reached',
    code: 'unreachable_node',
    at: 'c',
    nodes: [start, conversation, end],
    edges: [toEnd('s'), toEnd('c', 'They are done.')],
    mended: { edges: [sketchEdge('s>c'), toEnd('c', 'They are done.')] },
  },
  {
    title: 'an edge for digits at a node that is left at once',
    code: 'event_never_raised',
    at: 'y>c',
    nodes: [start, say('y'), conversation, end],
    edges: [
      sketchEdge('s>y'),
      toEnd('y'),
      sketchEdge('y>c', { condition: { event: 'dtmf', digits: '1' } }),
      toEnd('c', 'Done.'),
    ],
    mended: {
      edges: [
        sketchEdge('s>y'),
        sketchEdge('y>c', { condition: { event: 'dtmf', digits: '1' } }),
        toEnd('y', silence()),
        toEnd('c', 'Done.'),
      ],
    },
  },
  {
    title: 'an edge for the result of a tool that the node does not call',
    code: 'event_never_raised',
    at: 'c>e',
    nodes: [start, conversation, end],
    edges: [sketchEdge('s>c'), toEnd('c', result({ tool: 'lookup' }))],
    mended: { nodes: [start, sketchNode('c', 'conversation', { tools: ['lookup'] }), end] },
  },
  {
    title: 'an edge for the result of a tool at a node that calls none',
    code: 'event_never_raised',
    at: 'y>c',
    nodes: [start, say('y'), conversation, end],
    edges: [sketchEdge('s>y'), toEnd('y'), sketchEdge('y>c', { condition: result() }), toEnd('c', 'Done.')],
    mended: { nodes: [start, sketchNode('y', 'tool'), conversation, end] },
  },
  {
    title: 'an edge for a transfer that succeeded',
    code: 'event_never_raised',
    at: 'x>e',
    nodes: [start, sketchNode('x', 'transfer'), end],
    edges: [sketchEdge('s>x'), toEnd('x', result({ ok: true }))],
    mended: { edges: [sketchEdge('s>x'), toEnd('x', result({ ok: false }))] },
  },
  {
    title: 'an edge behind end_call',
    code: 'event_never_raised',
    at: 't>e',
    nodes: [start, sketchNode('t', 'tool', { tools: ['end_call'] }), end],
    edges: [sketchEdge('s>t'), toEnd('t', result({ tool: 'end_call' }))],
    mended: { edges: [sketchEdge('s>t')] },
  },
  {
    title: 'a silence behind a shorter one',
    code: 'silence_behind_shorter',
    at: 'c>e',
    nodes: [start, conversation, say('y'), end],
    edges: [
      sketchEdge('s>c'),
      toEnd('c', silence(20_000)),
      sketchEdge('c>y', { condition: silence(5000) }),
      sketchEdge('y>c'),
    ],
    mended: { edges: [sketchEdge('s>c'), toEnd('c', silence(20_000)), sketchEdge('y>c')] },
  },
  {
    title: 'a silence behind the default one of the node',
    code: 'silence_behind_shorter',
    at: 'c>e',
    nodes: [start, sketchNode('c', 'conversation', { silence: { afterMs: 3000 } }), say('y'), end],
    edges: [
      sketchEdge('s>c'),
      toEnd('c', silence(4000)),
      sketchEdge('c>y', { condition: silence() }),
      sketchEdge('y>c'),
    ],
    mended: {
      nodes: [start, conversation, say('y'), end],
      edges: [sketchEdge('s>c'), toEnd('c', silence(4000))],
    },
  },
  {
    title: 'a line that must be heard behind one that can be interrupted',
    code: 'must_hear_line_cut',
    at: 'z',
    nodes: [start, say('y'), sketchNode('d', 'condition'), say('z', { interruption: 'off' }), end],
    edges: [sketchEdge('s>y'), sketchEdge('y>d'), sketchEdge('d>z'), toEnd('z')],
    mended: {
      nodes: [
        start,
        say('y', { interruption: 'off' }),
        sketchNode('d', 'condition'),
        say('z', { interruption: 'off' }),
        end,
      ],
    },
  },
  {
    title: 'a loop without a turn of the person',
    code: 'endless_loop',
    severity: 'error',
    at: 'y',
    nodes: [start, say('y'), say('z'), end],
    edges: [sketchEdge('s>y'), sketchEdge('y>z'), sketchEdge('z>y'), toEnd('s', 'They are done.')],
    mended: { nodes: [start, say('y'), sketchNode('z', 'conversation'), end] },
  },
  {
    title: 'a transfer without an edge for its failure',
    code: 'transfer_without_failure_edge',
    at: 'x',
    nodes: [start, sketchNode('x', 'transfer'), end],
    edges: [sketchEdge('s>x')],
    mended: { edges: [sketchEdge('s>x'), toEnd('x', result({ ok: false }))] },
  },
  {
    title: 'a built-in tool without its arguments',
    code: 'wrong_arguments',
    at: 't',
    nodes: [start, noted({ nme: 'state' }), end],
    edges: [sketchEdge('s>t'), toEnd('t')],
    mended: { nodes: [start, noted({ name: 'state', value: 'open' }), end] },
  },
  {
    title: 'a condition over a variable that nothing sets',
    code: 'unknown_variable',
    at: 'c>e',
    nodes: [start, conversation, end],
    edges: [sketchEdge('s>c'), toEnd('c', whenOpen)],
    mended: {
      nodes: [start, noted({ name: 'state', value: 'open' }), conversation, end],
      edges: [sketchEdge('s>t'), sketchEdge('t>c'), toEnd('c', whenOpen)],
    },
  },
  {
    title: 'a required variable that no step asks for',
    code: 'required_variable_not_asked',
    at: null,
    nodes: [start, conversation, end],
    edges: [sketchEdge('s>c'), toEnd('c', 'They are done.')],
    options: { agent: { ...newAgentConfig('A'), variableConfigs: required } },
    mended: { nodes: [start, sketchNode('c', 'conversation', { prompt: 'Ask for the order number.' }), end] },
  },
];

function findings(nodes: readonly object[], edges: readonly object[], options: Partial<ReviewOptions> = {}) {
  const known = { toolIds: new Set(['lookup']), variables: new Set<string>(), ...options };
  return reviewPathway(sketch(nodes, edges), known).problems;
}

test.each(FINDINGS.map((finding) => [finding.title, finding] as const))(
  'The review finds %s, with its place and advice, and nothing once it is mended',
  (_, { code, severity = 'warning', at, nodes, edges, mended, options }) => {
    const of = (problems: ReturnType<typeof findings>) => problems.filter((problem) => problem.code === code);
    const found = of(findings(nodes, edges, options));
    expect(found.map(({ nodeId, edgeId }) => nodeId ?? edgeId ?? null)).toEqual([at]);
    // What is wrong, and what to do about it.
    expect(found[0]).toMatchObject({ severity, message: expect.stringMatching(/[;,] |cannot be reached/) });
    expect(of(findings(mended.nodes ?? nodes, mended.edges ?? edges, options))).toEqual([]);
  },
);

test('Variables that tools, numbers, trunks or the model set are known', () => {
  const read = (name: string, data: object = {}) =>
    sketchNode('c', 'conversation', { prompt: `Say {{ ${name} }}.`, ...data });
  const unknown = (nodes: readonly object[], options: Partial<ReviewOptions> = {}) =>
    findings(nodes, [], options).filter(({ code }) => code === 'unknown_variable').length;
  expect(unknown([start, read('tier')])).toBe(1);
  expect(unknown([start, read('tier')], { variables: new Set(['tier']) })).toBe(0);
  expect(unknown([start, read('call.fromNumber')])).toBe(0);
  expect(unknown([start, read('tier', { tools: ['set_variable'] })])).toBe(0);
  const toolNames = new Map([['lookup', 'look_up']]);
  expect(unknown([start, sketchNode('t', 'tool'), read('look_up.name')], { toolNames })).toBe(0);
});

test('Variables that a tool’s answer or the request before the start sets are known', () => {
  const read = sketchNode('c', 'conversation', { prompt: 'Say {{ bookingId }}.', tools: ['lookup'] });
  const codes = (options: Partial<ReviewOptions>) =>
    findings([start, read, end], [sketchEdge('s>c'), toEnd('c', 'Done.')], options).map(({ code }) => code);
  expect(codes({})).toEqual(['unknown_variable']);
  expect(codes({ toolVariables: new Map([['lookup', ['bookingId']]]) })).toEqual([]);
  const beforeStartConfig = { url: 'https://crm.example.com/start' };
  expect(codes({ agent: { ...newAgentConfig('A'), beforeStartConfig } })).toEqual([]);
});

test('A variable that nothing sets is one finding, which names every place', () => {
  const line = (id: string) => say(id, { prompt: 'Your table, {{ name }}: {{ name.first }}.' });
  const found = findings(
    [start, line('y'), line('z'), end],
    [sketchEdge('s>y'), sketchEdge('y>z'), toEnd('z')],
  );
  expect(found).toMatchObject([{ code: 'unknown_variable', nodeId: 'y' }]);
  expect(found[0]?.message).toMatch(/; also read at \/nodes\/2\/data\/prompt$/);
});

test.each([
  ['call.fromNumber', []],
  ['call.trunkId', []],
  [
    'call.from',
    [
      'no call has the variable "call.from"; the members of call are direction, fromNumber, toNumber, callId, trunkId',
    ],
  ],
])('Members of call: %s', (name, messages) => {
  const found = findings(
    [start, say('y', { prompt: `From {{ ${name} }}.` }), end],
    [sketchEdge('s>y'), toEnd('y')],
  );
  expect(found.map(({ message }) => message)).toEqual(messages);
});

const TRUNK_ID = '00000000-0000-4000-8000-000000000001';
const OTHER_TRUNK_ID = '00000000-0000-4000-8000-000000000002';

test.each([
  ['a number of another country', '+4930123456', true],
  ['a number of an own country', '+886223456700', false],
  ['a template', '{{ department }}', false],
  ['a SIP URI at a trunk of the project', 'sip:desk@pbx.example.com', false],
  ['a SIP URI at a host that the limits do not name', 'sip:desk@elsewhere.example', true],
  ['a number over a trunk of the project', { to: '+886223456700', trunkId: TRUNK_ID }, false],
  ['a number over a trunk that is gone', { to: '+886223456700', trunkId: OTHER_TRUNK_ID }, true],
])('A transfer to %s, %s, is warned of where the limits forbid it: %s', (_, to, isForbidden) => {
  const limits = { ...NO_CALL_LIMITS, ownCountriesOnly: true };
  const trunk = { id: TRUNK_ID, host: 'pbx.example.com', port: 5060, fromDomain: null };
  const destinations = { limits, ownNumbers: ['+886223456789'], trunks: [trunk] };
  const review = (node: object, agent = newAgentConfig('A')) => {
    const options = { toolIds: new Set<string>(), destinations, agent };
    return reviewPathway(
      sketch([start, node, end], [sketchEdge('s>x'), toEnd('x')]),
      options,
      transferRefusal,
    )
      .problems.filter(({ code }) => code === 'transfer_target_forbidden')
      .map(({ path }) => path);
  };
  const arranged = (data: object) => sketchNode('x', 'tool', { tools: ['transfer_call'], ...data });
  const at = (path: string) => (isForbidden ? [path] : []);
  expect(review(sketchNode('x', 'transfer', { to }))).toEqual(at('/nodes/1/data/to'));
  expect(review(sketchNode('x', 'transfer', { to: undefined, targets: [to] }))).toEqual(
    at('/nodes/1/data/targets/0'),
  );
  expect(review(arranged({ arguments: { to } }))).toEqual(at('/nodes/1/data/arguments/to'));
  const agent = { ...newAgentConfig('A'), notUnderstood: { transferTo: to } };
  expect(review(say('x'), agent)).toEqual(at('/agent/notUnderstood/transferTo'));
  const listing = { ...newAgentConfig('A'), transferTargets: [to] };
  expect(review(say('x'), listing)).toEqual(at('/agent/transferTargets/0'));
});

test('A malformed template of an agent that was stored before is an error', () => {
  const agent = { ...newAgentConfig('A'), globalPrompt: 'Speak for {{ company.' };
  expect(findings([start, end], [toEnd('s')], { agent })).toContainEqual(
    expect.objectContaining({ severity: 'error', code: 'template_error', path: '/agent/globalPrompt' }),
  );
});
