import { describe, expect, it } from 'vitest';
import {
  extractAnswer,
  extractFormat,
  judgeAnswer,
  moveArguments,
  moveTool,
  routeAnswer,
} from '../../../src/engine/prompt/structuredOutput.ts';
import type { ChatMessage } from '../../../src/providers/ports/chatMessage.ts';
import type { ChatEvent, ChatRequest } from '../../../src/providers/ports/chatModel.ts';
import type { Situation } from '../../../src/providers/ports/situation.ts';
import type { ToolDefinition } from '../../../src/providers/ports/toolDefinition.ts';
import { createRehearsalModel } from '../../../src/providers/rehearsal/rehearsal.ts';
import { collect } from '../../support/collect.ts';

const forever = new AbortController().signal;
const node = { id: 'n1', title: 'Greeting', prompt: 'Say "Hello. How can I help?"', type: 'conversation' };
const book = { id: 'e-book', label: '', sentence: 'The caller wants to book' };
const otherwise = { id: 'e-else', label: 'none of the others holds', sentence: '' };
const weather: ToolDefinition = {
  name: 'get_weather',
  description: 'Get the current weather in a city',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'The city' },
      days: { type: 'integer', description: 'Days' },
    },
    required: ['city'],
  },
};

async function ask(request: Partial<ChatRequest>): Promise<ChatEvent[]> {
  const model = createRehearsalModel({ makeId: () => '1-2' });
  return collect(model.stream({ model: 'any', messages: [], ...request }, forever));
}

const at = (situation: Partial<Situation>, request: Partial<ChatRequest> = {}) =>
  ask({ ...request, situation: { kind: 'answer', node, ...situation } });
const user = (content: string): ChatMessage => ({ role: 'user', content });
const textOf = (events: readonly ChatEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const callsOf = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [[event.name, JSON.parse(event.arguments)]] : []));

describe('an answer', () => {
  it('streams the lines of the node word by word, and says who speaks', async () => {
    expect(await at({})).toEqual([
      ...['Hello. ', 'How ', 'can ', 'I ', 'help?'].map((text) => ({ type: 'text', text })),
      { type: 'end', finishReason: 'stop', model: 'callway-rehearsal' },
    ]);
  });

  it('streams Chinese in small pieces and loses nothing', async () => {
    const events = await at({ node: { ...node, prompt: '說「您好，請問需要什麼服務？」' } });
    expect(textOf(events)).toBe('您好，請問需要什麼服務？');
    expect(events.length).toBeGreaterThan(5);
  });

  it('is the same each time', async () => {
    expect(await at({})).toEqual(await at({}));
  });

  it('tells the best passage that was found', async () => {
    expect(textOf(await at({ knowledge: ['We open at nine.', 'We sell tea.'] }))).toBe('We open at nine.');
  });

  it('is honest where there is no pathway', async () => {
    expect(textOf(await ask({ messages: [user('Hi there')] }))).toBe(
      'This is the rehearsal model, which follows pathways by rules and has none here. You said: “Hi there”',
    );
    expect(textOf(await ask({}))).toContain('rehearsal model');
  });

  it('stops when it is aborted', async () => {
    const leaving = new AbortController();
    const model = createRehearsalModel({ makeId: () => 'id' });
    const request: ChatRequest = { model: 'm', messages: [], situation: { kind: 'answer', node } };
    const events = model.stream(request, leaving.signal)[Symbol.asyncIterator]();
    await events.next();
    leaving.abort(new Error('gone'));
    await expect(events.next()).rejects.toThrow('gone');
  });
});

describe('an answer with ways on', () => {
  const choices = [book, otherwise];
  const tools = [moveTool(choices)];
  const move = (lastUserText: string, more: Partial<ChatRequest> = {}, ways = choices) =>
    at({ kind: 'answer_and_route', choices: ways, lastUserText }, { tools, ...more });

  it('moves without a word, by the move tool', async () => {
    const events = await move('I want to book');
    expect(textOf(events)).toBe('');
    const [call] = callsOf(events);
    expect(call?.[0]).toBe('move_to');
    expect(moveArguments.parse(call?.[1])).toEqual({ edge: 'e-book' });
    expect(events.at(-1)).toMatchObject({ type: 'end', finishReason: 'tool_calls' });
  });

  it('stays, and speaks, where no way fits', async () => {
    const events = await move('what a day', {}, [book]);
    expect([callsOf(events), textOf(events)]).toEqual([[], 'Hello. How can I help?']);
  });

  it('takes the way for everything else, but not before a tool that fits', async () => {
    expect(callsOf(await move('what a day'))).toEqual([['move_to', { edge: 'e-else' }]]);
    const both = { tools: [...tools, weather] };
    expect(callsOf(await move('what is the weather in Paris', both))).toEqual([
      ['get_weather', { city: 'Paris' }],
    ]);
  });

  it('never takes the move tool for one of the caller’s', async () => {
    expect(callsOf(await move('move to the conversation', {}, [book]))).toEqual([]);
  });
});

describe('questions that want JSON', () => {
  const answer = async (situation: Partial<Situation>, messages: readonly ChatMessage[] = []) =>
    JSON.parse(textOf(await at(situation, { messages })));

  it('route', async () => {
    const route = (lastUserText: string) => answer({ kind: 'route', choices: [book], lastUserText });
    expect(routeAnswer.parse(await route('I want to book'))).toEqual({ edge: 'e-book' });
    expect(routeAnswer.parse(await route("I don't want to book"))).toEqual({ edge: null });
  });

  it('extract, with every variable that was asked for', async () => {
    const variableConfigs = [
      { name: 'guests', type: 'number', description: 'Number of guests' },
      { name: 'day', type: 'date', description: 'Day of the visit' },
      { name: 'name', type: 'string', description: 'Name of the caller' },
    ] as const;
    const lastUserText = "I'm Eva and we come tomorrow, four guests";
    const found = await answer({ kind: 'extract', variableConfigs, lastUserText, today: '2026-11-18' });
    expect(extractAnswer.parse(found)).toEqual({ guests: 4, day: '2026-11-19', name: 'Eva' });
    expect(Object.keys(found)).toEqual(extractFormat(variableConfigs).schema.required);
  });

  it('extract, from the last message where the situation has no words', async () => {
    const variableConfigs = [{ name: 'guests', type: 'number', description: '' }] as const;
    expect(await answer({ kind: 'extract', variableConfigs }, [user('four')])).toEqual({ guests: 4 });
  });

  it('judge, and says that it was a rule', async () => {
    const criteria = [
      { name: 'booked', description: 'The agent confirmed the booking of a table' },
      { name: 'refund', description: 'A refund was promised' },
      { name: 'no prices', description: 'The agent did not mention prices' },
    ];
    const talk: ChatMessage[] = [
      { role: 'system', content: 'Judge whether a refund was promised.' },
      user('I want to book a table'),
      { role: 'assistant', content: 'I confirmed your table.' },
    ];
    const { results } = judgeAnswer.parse(await answer({ kind: 'judge', criteria }, talk));
    expect(results.map(({ name, passed }) => [name, passed])).toEqual([
      ['booked', true],
      ['refund', false],
      ['no prices', true],
    ]);
    for (const { reason } of results) expect(reason).toMatch(/^judged by rule: /);
  });
});

it('summarises by the beginning and the end', async () => {
  const messages: ChatMessage[] = [
    user('I want to book. For four.'),
    { role: 'assistant', content: 'Which day?' },
    user('Tomorrow. Thanks.'),
    { role: 'assistant', content: 'Done. Goodbye.' },
  ];
  expect(textOf(await at({ kind: 'summarise' }, { messages }))).toBe(
    'The person began: “I want to book.” and said last: “Thanks.” The agent said last: “Goodbye.”',
  );
  expect(textOf(await at({ kind: 'summarise' }))).toBe('Nothing was said.');
  expect(textOf(await at({ kind: 'summarise' }, { messages: [user('x'.repeat(9999))] })).length).toBeLessThan(
    300,
  );
});

describe('tools', () => {
  const end: ToolDefinition = {
    name: 'end_call',
    description: 'Ends the conversation, after your farewell.',
  };
  const chat = (text: string, more: Partial<ChatRequest> = {}) =>
    ask({ tools: [weather, end], messages: [user(text)], ...more });

  it.each<[string, Partial<ChatRequest>, unknown[]]>([
    ['What is the weather in Paris?', {}, [['get_weather', { city: 'Paris' }]]],
    ['weather in New York for 3 days', {}, [['get_weather', { city: 'New York', days: 3 }]]],
    ['I do not care for the weather in Paris', {}, []],
    ['tell me a joke', {}, []],
    ['What is the weather in Paris?', { toolChoice: 'none' }, []],
    [
      'Paris is nice, I am in Paris',
      { toolChoice: { name: 'get_weather' } },
      [['get_weather', { city: 'Paris' }]],
    ],
    ['I am in Paris', { toolChoice: { name: 'unknown' } }, []],
  ])('%s %j', async (text, request, calls) => {
    expect(callsOf(await chat(text, request))).toEqual(calls);
  });

  it('asks for what a call lacks', async () => {
    const events = await chat('how is the weather');
    expect([callsOf(events), textOf(events)]).toEqual([[], 'Could you tell me the city?']);
  });

  it('calls what the prompt names, when nothing is lacking', async () => {
    const farewell = { ...node, prompt: 'Use end_call now.' };
    expect(callsOf(await at({ node: farewell }, { tools: [end] }))).toEqual([['end_call', {}]]);
    const look = { ...node, prompt: 'Use get_weather. Say "Which city?"' };
    expect(textOf(await at({ node: look, lastUserText: 'hello' }, { tools: [weather] }))).toBe('Which city?');
  });

  it('gives the whole of what was said to a tool that takes a question', async () => {
    const search: ToolDefinition = {
      name: 'search',
      description: 'Searches the manual',
      parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    };
    const text = 'search the manual for fuses';
    expect(callsOf(await chat(text, { tools: [search] }))).toEqual([['search', { query: text }]]);
  });

  it.each([
    ['{"temperature": 21, "sky": "clear", "more": {"a": 1}}', 'temperature: 21, sky: clear.'],
    ['It is sunny.', 'It is sunny.'],
    ['"sunny"', 'sunny'],
    ['{}', 'That is done.'],
    ['', 'That is done.'],
  ])('tells the result %s, and does not call again', async (content, told) => {
    const messages: ChatMessage[] = [
      user('What is the weather in Paris?'),
      { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'get_weather', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c', content },
      { role: 'system', content: 'The step.' },
    ];
    const events = await chat('', { messages });
    expect([callsOf(events), textOf(events)]).toEqual([[], told]);
  });
});
