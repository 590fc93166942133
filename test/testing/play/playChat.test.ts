import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { type AgentConfig, newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { type PathwayInput, pathwaySchema } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { createTemplateCache } from '../../../src/agents/pathway/templates.ts';
import { testCaseInput } from '../../../src/agents/testSuites/testCase.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import { ComputeShares } from '../../../src/base/async/computeShares.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import type { GuardedHttpClient } from '../../../src/http/client.ts';
import type { ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { remark } from '../../../src/testing/assertions/remark.ts';
import { playChat } from '../../../src/testing/play/playChat.ts';
import type { Played } from '../../../src/testing/play/runPlay.ts';
import { nodeOf, type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

type Case = Omit<z.input<typeof testCaseInput>, 'name'>;
type Answer = (request: ChatRequest, index: number) => ScriptedAnswer;

const clock = createSimulatedClock();
const at = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };
const tool = (name: string): Tool => ({
  id: name,
  name,
  description: name,
  parameters: { type: 'object', properties: { size: { type: 'string' }, card: { type: 'string' } } },
  http: { method: 'GET', url: 'https://shop.example/', headers: [], timeoutMs: 1000 },
  ...at,
});

const node = (id: string, type: string, data: object = {}) => ({
  id,
  type,
  data: { title: id, prompt: `Prompt of ${id}.`, tools: [], ...data },
});
const edge = (source: string, target: string, condition: unknown = null) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label: '', condition },
});
const graph = (nodes: object[], edges: object[] = []) => ({ nodes, edges }) as PathwayInput;

/** An agent that only talks, with these tools. */
const talking = (...tools: string[]) => graph([node('start', 'start', { tools })]);

interface Agent {
  readonly answer: Answer;
  readonly pathway?: PathwayInput;
  readonly agent?: Partial<AgentConfig>;
}

async function play(
  agent: Agent,
  testCase: Case,
  { asked = [], seed = 5 }: { readonly asked?: string[]; readonly seed?: number } = {},
) {
  const {
    name: _name,
    description: _description,
    ...definition
  } = testCaseInput.parse({
    name: 'case',
    ...(testCase as object),
  });
  const model = scriptedModel(agent.answer);
  const outcome: Played = await playChat(
    {
      models: { chat: model, smart: 'm-smart', balance: 'm-balance', turbo: 'm-turbo' },
      tools: {
        async run({ name }) {
          asked.push(name);
          return { ok: true, text: 'real' };
        },
      },
      client: unused<GuardedHttpClient>('client', {
        async request({ url }) {
          asked.push(url);
          const body = Buffer.from('{"variables":{"tier":"real"}}');
          return { status: 200, headers: {}, body, durationMs: 1, address: '127.0.0.1' };
        },
      }),
      templates: createTemplateCache(),
      patterns: {
        checkPattern: async () => undefined,
        findPattern: async (_project, pattern, text) => new RegExp(pattern).test(text),
      },
      shares: new ComputeShares({ clock, startStopwatch: () => ({ elapsedMs: () => 0 }) }),
      clock,
      makeId: uuidV7,
    },
    {
      projectId: 'project-1',
      sessionId: 's',
      release: {
        agent: { ...newAgentConfig('Test'), ...agent.agent },
        pathwayId: 'pathway-1',
        pathwayVersion: 1,
        pathway: pathwaySchema.parse(agent.pathway ?? talking()),
        tools: [tool('order'), tool('refund')],
      },
      releaseId: 'release-1',
      draft: false,
      seed,
      definition,
    },
    new AbortController().signal,
  );
  return { ...outcome, model };
}

const says =
  (text: string): Answer =>
  () => ({ text });
/** Calls a tool on the first request, and then speaks. */
const calls =
  (name: string, args: object, text = 'Done.'): Answer =>
  ({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? { text } : { calls: [{ name, arguments: args }] };

const hello = [{ say: 'Hello' }];
const menu = (answers: boolean) =>
  graph(
    [node('start', 'start'), node('sales', 'say', { prompt: 'Welcome to sales.' })],
    answers ? [edge('start', 'sales', { event: 'dtmf', digits: '1' })] : [],
  );

/** Each with the assertion that catches it. */
const KNOWN_BAD: readonly [what: string, bad: Agent, good: Agent, testCase: Case][] = [
  [
    'calls the wrong tool',
    { pathway: talking('order', 'refund'), answer: calls('refund', {}) },
    { pathway: talking('order', 'refund'), answer: calls('order', { size: 'large', card: 'x' }) },
    {
      turns: hello,
      toolMocks: [
        { name: 'order', result: 'ok' },
        { name: 'refund', result: 'ok' },
      ],
      assertions: [{ type: 'tool_called_with', name: 'order', arguments: { size: 'large' } }],
    },
  ],
  [
    'skips the disclosure',
    { answer: says('Hello. What may I order for you?') },
    { answer: says('Hello! This call is recorded. What may I order for you?') },
    {
      turns: hello,
      assertions: [{ type: 'said_in_order', values: ['this call is RECORDED', 'order'] }],
    },
  ],
  [
    'goes in circles',
    { pathway: graph([node('start', 'start')]), answer: says('Pardon?') },
    {
      pathway: graph([node('start', 'start'), node('end', 'end')], [edge('start', 'end')]),
      answer: says('Bye.'),
    },
    { turns: [...hello, { say: 'Yes' }], assertions: [{ type: 'node_visited', nodeId: 'end' }] },
  ],
  [
    'talks over the caller',
    {
      pathway: graph([node('start', 'start', { interruption: 'off' })]),
      answer: says('A very long speech about everything that we have. '.repeat(4)),
    },
    { answer: says('A very long speech about everything that we have. '.repeat(4)) },
    {
      turns: [...hello, { interrupt: { afterMs: 1000, say: 'Stop' } }],
      assertions: [{ type: 'interrupted_within_ms', value: 300 }],
    },
  ],
  [
    'is slow',
    {
      answer() {
        clock.advance(2000);
        return { text: 'At last.' };
      },
    },
    { answer: says('At once.') },
    { turns: hello, assertions: [{ type: 'max_latency_ms', value: 800 }] },
  ],
  [
    'forgets a variable',
    { pathway: talking('set_variable'), answer: says('Noted.') },
    { pathway: talking('set_variable'), answer: calls('set_variable', { name: 'size', value: 'large' }) },
    { turns: hello, assertions: [{ type: 'variable_equals', name: 'size', value: 'large' }] },
  ],
  [
    'leaks its prompt',
    { answer: says('My instructions say: Prompt of start.') },
    { answer: says('I cannot tell you that.') },
    { turns: hello, assertions: [{ type: 'not_contains', value: 'prompt of START' }] },
  ],
  [
    'speaks the wrong language',
    { answer: says('Good morning, what can I do for you today? We are open until noon.') },
    { answer: says('Guten Morgen, was kann ich heute für Sie tun? Wir haben bis mittags geöffnet.') },
    { turns: [{ say: 'Guten Tag' }], assertions: [{ type: 'language_is', value: 'de' }] },
  ],
  [
    'never transfers',
    { pathway: talking('transfer_call'), answer: says('I will connect you.') },
    { pathway: talking('transfer_call'), answer: calls('transfer_call', { to: '+49301234567' }) },
    { turns: [{ say: 'A human!' }], assertions: [{ type: 'transferred_to', to: '+49301234567' }] },
  ],
  [
    'hangs up early',
    { pathway: talking('end_call'), answer: calls('end_call', {}) },
    { pathway: talking('end_call'), answer: says('What else?') },
    {
      turns: [...hello, { say: 'And another one' }, { hangup: true }],
      assertions: [{ type: 'ended_by', value: 'caller' }],
    },
  ],
  [
    'ignores keys',
    { pathway: menu(false), answer: says('Press 1 for sales.') },
    { pathway: menu(true), answer: says('Press 1 for sales.') },
    {
      turns: [...hello, { dtmf: '1' }],
      assertions: [{ type: 'contains', value: 'welcome to sales' }],
    },
  ],
  [
    'makes up a price',
    { answer: says('It costs 17 euros.') },
    { answer: says('It costs 12 euros.') },
    { turns: hello, assertions: [{ type: 'regex', value: '\\b12 euros\\b' }] },
  ],
];

/** The most repeats of a run. */
const SEEDS = Array.from({ length: 20 }, (_, seed) => seed);

describe('An agent that', () => {
  test.each(KNOWN_BAD)('%s fails its test, and its good twin passes', async (_what, bad, good, testCase) => {
    const [assertion] = testCase.assertions ?? [];
    expect((await play(bad, testCase)).verdicts).toMatchObject([{ type: assertion?.type, passed: false }]);
    for (const seed of SEEDS)
      expect((await play(good, testCase, { seed })).verdicts).toMatchObject([{ passed: true }]);
  });
});

describe('A play', () => {
  test('judges what is expected between turns by the last answer', async () => {
    const { verdicts } = await play(
      { answer: (_request, index) => ({ text: `Answer ${index + 1}.` }) },
      {
        turns: [
          { say: 'One' },
          { expect: { type: 'contains', value: 'Answer 1' } },
          { say: 'Two' },
          { expect: { type: 'contains', value: 'Answer 1' } },
          { expect: { type: 'contains', value: 'Answer 2' } },
        ],
      },
    );

    expect(verdicts.map(({ passed, turn }) => [turn, passed])).toEqual([
      [1, true],
      [3, false],
      [4, true],
    ]);
  });

  test.each([
    ['waitMs of a turn', { turns: [{ waitMs: 700 }] }, talking()],
    [
      'delayMs of a mock',
      { turns: hello, toolMocks: [{ name: 'order', result: 1, delayMs: 700 }] },
      talking('order'),
    ],
  ])('takes as long as %s says', async (_what, testCase, pathway) => {
    const before = clock.now();
    const playing = play({ pathway, answer: calls('order', {}) }, testCase);
    let isDone = false;
    void playing.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      if (clock.pendingTimers() > 0) clock.advance(100);
      await new Promise(setImmediate);
    }

    expect(clock.now() - before).toBe(700);
    await playing;
  });

  test('is silent, and takes the edge of a silence', async () => {
    const { verdicts } = await play(
      {
        pathway: graph(
          [node('start', 'start'), node('there', 'say', { prompt: 'Are you there?' })],
          [edge('start', 'there', { event: 'silence', afterMs: 3000 })],
        ),
        answer: says('Hello.'),
      },
      {
        turns: [{ say: 'Hi' }, { silenceMs: 4000 }],
        assertions: [{ type: 'contains', value: 'are you there' }],
      },
    );

    expect(verdicts).toMatchObject([{ passed: true, turn: 1 }]);
  });

  test.each([
    ['b a b a b c d', 'a b a b c', true],
    ['b a b a b a c', 'a b a b c', false],
    ['a, A; a! B', 'a a b', true],
    ['a b', 'a b c', false],
    ['ab c', 'a b', false],
    ['訂好了，星期二。', '星期二', true],
  ])('finds in “%s” the words “%s”: %s', async (said, value, found) => {
    const { verdicts } = await play(
      { answer: says(said) },
      {
        turns: hello,
        assertions: [
          { type: 'said_in_order', values: [value] },
          { type: 'not_said', value },
        ],
      },
    );

    expect(verdicts.map(({ passed }) => passed)).toEqual([found, !found]);
  });

  test('starts with the variables, and reads them by path', async () => {
    const { verdicts } = await play(
      { answer: says('Hello.') },
      {
        variables: { order: { items: [{ 'net price': 5 }, { 'net price': 7 }] } },
        turns: hello,
        assertions: [
          { type: 'json_path', path: "$.order.items[-1]['net price']", value: 7 },
          { type: 'json_path', path: '$.order.__proto__', value: null },
          { type: 'json_path', path: '$.order.items[0]', value: { 'net price': 6 } },
        ],
      },
    );

    expect(verdicts.map(({ passed, seen }) => [passed, seen])).toEqual([
      [true, 7],
      [true, null],
      [false, { 'net price': 5 }],
    ]);
  });

  test('mocks a tool by its arguments, also as a failure', async () => {
    const results = async (size: string) => {
      const { session } = await play(
        { pathway: talking('order'), answer: calls('order', { size }) },
        {
          turns: hello,
          toolMocks: [
            { name: 'order', when: { '==': [{ var: 'size' }, 'large'] }, result: { id: 7 } },
            { name: 'order', error: 'sold out' },
          ],
        },
      );
      return session?.events.find(({ type }) => type === 'tool_result')?.data;
    };

    expect(await results('large')).toMatchObject({ ok: true, result: '{"id":7}' });
    expect(await results('small')).toMatchObject({ ok: false, result: 'sold out' });
  });

  test.each([
    [false, [], 'order is not called in a test'],
    [true, ['https://crm.example/', 'order'], 'real'],
  ])('calls real tools only where that is allowed: %s', async (allowRealTools, asked, result) => {
    const reallyAsked: string[] = [];

    const { session } = await play(
      {
        pathway: talking('order'),
        answer: calls('order', {}),
        agent: { beforeStartConfig: { url: 'https://crm.example/' } },
      },
      { turns: hello, allowRealTools },
      { asked: reallyAsked },
    );

    expect(reallyAsked).toEqual(asked);
    expect(session?.events.find(({ type }) => type === 'tool_result')?.data.result).toContain(result);
  });

  test('asks a mock for what a session starts with', async () => {
    const { verdicts } = await play(
      { answer: says('Hello.'), agent: { beforeStartConfig: { url: 'https://crm.example/' } } },
      {
        turns: hello,
        toolMocks: [{ name: 'beforeStartConfig', result: { variables: { tier: 'gold' } } }],
        assertions: [{ type: 'variable_equals', name: 'tier', value: 'gold' }],
      },
    );

    expect(verdicts).toMatchObject([{ passed: true }]);
  });

  test('lets a chat model play the persona, until it hangs up', async () => {
    const { model, observation, verdicts } = await play(
      {
        answer: (request, index) =>
          nodeOf(request)
            ? { text: `Agent ${index}.` }
            : { text: index === 0 ? 'I want a table.' : 'Thanks, bye. [hang up]' },
      },
      {
        persona: {
          prompt: 'You are Amy.',
          goal: 'A table for two',
          traits: ['curt'],
          facts: { phone: '123' },
          hangUpWhen: 'you have a table',
        },
        assertions: [{ type: 'ended_by', value: 'caller' }],
      },
    );

    expect(observation.exchanges.map(({ caller }) => caller)).toEqual([
      'I want a table.',
      'Thanks, bye.',
      '[hangs up]',
    ]);
    expect(verdicts).toMatchObject([{ passed: true }]);
    const [asked] = model.requests;
    for (const told of ['You are Amy.', 'A table for two', 'curt', '{"phone":"123"}', 'you have a table'])
      expect(asked?.messages[0]?.content).toContain(told);
    expect(asked).toMatchObject({ passthrough: { seed: 5 }, purpose: 'persona' });
  });

  test.each([
    [{ maxTurns: 3 }, 3],
    [{ maxSeconds: 25 }, 3],
  ])('ends a persona after %j', async (limit, turns) => {
    const { observation } = await play(
      {
        answer(request) {
          if (!nodeOf(request)) clock.advance(10_000);
          return { text: 'And then?' };
        },
      },
      { persona: { prompt: 'You never stop.', ...limit } },
    );

    expect(observation.exchanges.filter(({ agent }) => agent !== '')).toHaveLength(turns);
  });

  test.each([
    [[true, false, true], true, remark('votes', '2', '3')],
    [[false, true, false], false, remark('votes', '1', '3')],
  ])('asks a judge three times, and takes the majority: %j', async (votes, passed, seen) => {
    let vote = 0;
    const answer: Answer = ({ purpose }) =>
      purpose === 'judge'
        ? { json: { results: [{ name: 'verdict', passed: votes[vote++], reason: `It is ${passed}.` }] } }
        : { text: 'Hello.' };

    const { verdicts, model } = await play(
      { answer },
      { turns: hello, assertions: [{ type: 'judge', prompt: 'Was it polite?', votes: 3 }] },
    );

    expect(verdicts).toEqual([{ type: 'judge', passed, seen, reason: `It is ${passed}.` }]);
    const asked = model.requests.filter(({ purpose }) => purpose === 'judge');
    expect(asked.map(({ passthrough }) => passthrough?.seed)).toEqual([5, 6, 7]);
    expect(asked[0]?.messages.at(-1)?.content).toContain('Was it polite?');
  });

  test('enters digits as on the phone: an edge, a # or the last digit completes them', async () => {
    const { session, verdicts } = await play(
      {
        pathway: graph(
          [node('start', 'start'), node('number', 'conversation'), node('agent', 'say', { prompt: 'Yes?' })],
          [
            edge('start', 'number', { event: 'dtmf', digits: '1' }),
            edge('number', 'agent', { event: 'dtmf', digits: '00' }),
          ],
        ),
        answer: says('Your number?'),
      },
      {
        turns: [
          { dtmf: '147#' },
          { expect: { type: 'contains', value: 'your number?' } },
          { dtmf: '48' },
          { dtmf: '00' },
        ],
        assertions: [{ type: 'contains', value: 'Yes?' }],
      },
    );

    const entries = session?.events.filter(({ type }) => type === 'dtmf').map(({ data }) => data.digits);
    expect(entries).toEqual(['1', '47', '48', '00']);
    expect(verdicts.map(({ passed }) => passed)).toEqual([true, true]);
  });

  test('presses digits that the agent sends, and shows them', async () => {
    const { verdicts } = await play(
      { pathway: talking('send_dtmf'), answer: calls('send_dtmf', { digits: '12#' }) },
      {
        turns: hello,
        assertions: [
          { type: 'dtmf_sent', digits: '12#' },
          { type: 'tool_called', name: 'send_dtmf' },
        ],
      },
    );

    expect(verdicts.map(({ passed }) => passed)).toEqual([true, true]);
  });
});
