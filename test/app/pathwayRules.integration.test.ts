import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import {
  calling,
  type RequestBody,
  type ScriptedUpstream,
  saying,
  startScriptedUpstream,
} from '../support/scriptedUpstream.ts';

const MODES = ['smart', 'balance', 'turbo'] as const;
type Mode = (typeof MODES)[number];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startScriptedUpstream({ status: 500 });
  gateway = await startTestGateway({ env: { OPENAI_BASE_URL: upstream.baseUrl } });
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

/** What a request to the model is for. */
function purposeOf({ response_format: format }: RequestBody): string {
  return (format as { json_schema?: { name?: string } } | undefined)?.json_schema?.name ?? 'answer';
}

/** The edges that a request lets the model take. */
function offered(body: RequestBody): readonly string[] {
  const text = JSON.stringify([body.tools ?? [], body.response_format ?? {}]);
  return ['wants', 'hours', 'book'].filter((edge) => text.includes(`"${edge}"`));
}

const jsonAnswer = (value: unknown) => ({ steps: saying(JSON.stringify(value)) });

/** A model that takes the first edge it is offered, and otherwise says these words. */
function moving(words: string) {
  return (body: RequestBody) => {
    const [edge = null] = offered(body);
    if (purposeOf(body) === 'extract') return jsonAnswer({ orderNumber: null });
    if (purposeOf(body) === 'route') return jsonAnswer({ edge });
    return { steps: edge === null ? saying(words) : calling('move_to', JSON.stringify({ edge })) };
  };
}

/** A model that takes no edge. */
const staying = (words: string) => (body: RequestBody) =>
  purposeOf(body) === 'route' ? jsonAnswer({ edge: null }) : { steps: saying(words) };

interface Chat {
  readonly project: TestProject;
  say(text: string): Promise<{ status: number; text: string }>;
  history(): Promise<{ nodes: string[]; errors: unknown[]; missingVariables?: string[] }>;
}

async function chatWith(mode: Mode, pathway: object, agent: object = {}): Promise<Chat> {
  const project = await gateway.createProject();
  const put = async (path: string, body: object) => {
    const answer = await gateway.api('PUT', `${project.path}${path}`, { key: project.developerKey, body });
    expect([path, answer.status, answer.body.error]).toEqual([path, 200, undefined]);
  };
  await put('/agent', { executionMode: mode, ...agent });
  await put('/pathway', pathway);
  return {
    project,
    async say(content) {
      const { status, body } = await gateway.api('POST', `${project.path}/chat/completions`, {
        key: project.secretKey,
        headers: { 'x-session-id': 's' },
        body: { messages: [{ role: 'user', content }] },
      });
      return { status, text: body.choices?.[0]?.message.content ?? '' };
    },
    async history() {
      const { body } = await gateway.api('GET', `${project.path}/session-history/s`, {
        key: project.developerKey,
      });
      const data = (type: string) =>
        body.events.flatMap((event: { type: string; data: unknown }) =>
          event.type === type ? [event.data] : [],
        );
      return {
        nodes: data('node_entered').map(({ nodeId }: { nodeId: string }) => nodeId),
        errors: data('error'),
        missingVariables: body.missingVariables,
      };
    },
  };
}

const node = (id: string, type: string, prompt: string, data: object = {}) => ({
  id,
  type,
  data: { title: id, prompt, ...data },
});
const edge = (id: string, source: string, target: string, condition: unknown = null, data: object = {}) => ({
  id,
  source,
  target,
  data: { condition, ...data },
});

describe.each(MODES)('A chat in the mode %s', (mode) => {
  test('takes an unconditional edge before a sentence, and a global edge before both', async () => {
    upstream.answerWith(staying('Yes?'));
    const chat = await chatWith(mode, {
      nodes: [
        node('start', 'start', 'Greet.'),
        node('next', 'conversation', 'Talk.'),
        node('never', 'conversation', 'Talk.'),
        node('told', 'say', 'From 9 to 5.', { returns: true }),
      ],
      edges: [
        edge('wants', 'start', 'never', 'The person wants it.', { priority: 5 }),
        edge('on', 'start', 'next'),
        edge('hours', '*', 'told', 'The person asks for the hours.'),
      ],
    });
    await chat.say('Hi');
    upstream.answerWith(moving('Yes?'));
    expect(await chat.say('When are you open?')).toEqual({ status: 200, text: 'From 9 to 5.' });
    upstream.answerWith(staying('So?'));
    expect(await chat.say('I want it')).toEqual({ status: 200, text: 'So?' });
    expect((await chat.history()).nodes).toEqual(['start', 'told', 'start', 'next']);
  });

  test('takes the edge for the result of a tool that the model called, without words for the old node', async () => {
    upstream.answerWith((body) => {
      if (purposeOf(body) === 'route') return jsonAnswer({ edge: null });
      const hasRun = (body.messages as { role: string }[]).some(({ role }) => role === 'tool');
      if (hasRun) return { steps: saying('as the old node') };
      return { steps: calling('set_variable', '{"name": "day", "value": "Monday"}') };
    });
    const chat = await chatWith(mode, {
      nodes: [
        node('start', 'start', 'Note the day.', { tools: ['set_variable'] }),
        node('noted', 'say', 'Noted: {{ day }}.'),
      ],
      edges: [
        edge('wants', 'start', 'noted', 'The person says it again.'),
        edge('done', 'start', 'noted', { event: 'tool_result', ok: true, tool: 'set_variable' }),
      ],
    });
    expect(await chat.say('Monday')).toEqual({ status: 200, text: 'Noted: Monday.' });
  });

  test('asks twice for a required variable, and lists it as missing', async () => {
    upstream.answerWith((body) => {
      const isQuestion = JSON.stringify(body.messages).includes('- orderNumber: The number of the order');
      return purposeOf(body) === 'answer' && isQuestion
        ? { steps: saying('Which order?') }
        : moving('Hello.')(body);
    });
    const variable = {
      name: 'orderNumber',
      type: 'string',
      description: 'The number of the order',
      required: true,
    };
    const chat = await chatWith(
      mode,
      {
        nodes: [node('start', 'start', 'Ask for the order number.'), node('end', 'end', '')],
        edges: [edge('wants', 'start', 'end', 'The person is done.')],
      },
      { variableConfigs: [variable] },
    );
    const said = [];
    for (const words of ['Hi', 'No', 'Bye']) said.push((await chat.say(words)).text);
    expect(said.slice(0, 2)).toEqual(['Which order?', 'Which order?']);
    const { nodes, missingVariables } = await chat.history();
    expect([nodes, missingVariables]).toEqual([['start', 'end'], ['orderNumber']]);
  });

  test('gives the expected answers to the model that selects the edge', async () => {
    upstream.clearRequests();
    upstream.answerWith(staying('Hello.'));
    const chat = await chatWith(mode, {
      nodes: [
        node('start', 'start', 'Ask.', { expectedAnswers: ['the day after tomorrow'] }),
        node('next', 'conversation', 'Talk.'),
      ],
      edges: [edge('wants', 'start', 'next', 'The person names a day.')],
    });
    await chat.say('Hi');
    const routing = upstream.requests.filter(({ body }) => offered(body).includes('wants'));
    expect(routing.map(({ body }) => JSON.stringify(body).includes('the day after tomorrow'))).toEqual([
      true,
    ]);
  });

  test('extracts variables while the model answers', async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    upstream.answerWith(async (body) => {
      if (purposeOf(body) !== 'extract') answer();
      else await answered;
      return moving('Hello.')(body);
    });
    const variable = { name: 'orderNumber', type: 'string', description: 'The number of the order' };
    const chat = await chatWith(
      mode,
      {
        nodes: [node('start', 'start', 'Talk.'), node('next', 'conversation', 'Talk on.')],
        edges: [edge('on', 'start', 'next')],
      },
      { variableConfigs: [variable] },
    );
    expect(await chat.say('Hi')).toEqual({ status: 200, text: 'Hello.' });
    expect(await chat.say('Well')).toEqual({ status: 200, text: 'Hello.' });
    expect((await chat.history()).errors).toEqual([]);
  });
});

test('A verdict that cannot be read keeps the chat at its node and is in the history', async () => {
  upstream.answerWith((body) => ({
    steps: purposeOf(body) === 'route' ? saying('Probably the first one') : saying('Go on.'),
  }));
  const chat = await chatWith('smart', {
    nodes: [node('start', 'start', 'Talk.'), node('end', 'end', '')],
    edges: [edge('wants', 'start', 'end', 'The person is done.')],
  });
  expect(await chat.say('Hi')).toEqual({ status: 200, text: 'Go on.' });
  const { nodes, errors } = await chat.history();
  expect(nodes).toEqual(['start']);
  expect(errors).toMatchObject([{ code: 'route_failed', nodeId: 'start' }]);
});

test.each([
  ['late', 800, ['Shall I book it?', 'You are booked.\nGoodbye.']],
  ['in time', 0, ['You are booked.\nGoodbye.']],
])('In turbo a verdict that is %s never lets a turn speak for two nodes', async (_when, waitMs, expected) => {
  upstream.answerWith(async (body) => {
    if (purposeOf(body) !== 'route') return { steps: saying('Shall I book it?') };
    await delay(waitMs);
    return jsonAnswer({ edge: 'book' });
  });
  const chat = await chatWith('turbo', {
    nodes: [
      node('start', 'start', 'Ask whether to book it.'),
      node('booked', 'say', 'You are booked.'),
      node('bye', 'say', 'Goodbye.'),
      node('end', 'end', ''),
    ],
    edges: [
      edge('book', 'start', 'booked', 'The person wants to book it.'),
      edge('told', 'booked', 'bye'),
      edge('over', 'bye', 'end'),
    ],
  });
  const said = [];
  for (const _text of expected) said.push((await chat.say('Book it')).text);
  expect(said).toEqual(expected);
  expect((await chat.history()).nodes).toEqual(['start', 'booked', 'bye', 'end']);
});
