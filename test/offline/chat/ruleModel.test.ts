import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../offline/chat/judge.ts';
import type { Message, RuleRequest, Situation, Tool } from '../../../offline/chat/request.ts';
import { answerByRules, type RuleAnswer } from '../../../offline/chat/ruleModel.ts';
import { requestFor } from './support/asked.ts';

const node = { title: 'Greeting', prompt: 'Say "Hello. How can I help?"', type: 'conversation' };
const book = { id: 'e-book', sentence: 'The caller wants to book' };
const weather: Tool = {
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

function ask(request: Partial<RuleRequest>): RuleAnswer {
  return answerByRules({ messages: [], ...request });
}

const at = (situation: Situation, request: Partial<RuleRequest> = {}) =>
  ask(requestFor({ node, ...situation }, request));
const user = (content: string): Message => ({ role: 'user', content });
const textOf = (answer: RuleAnswer) => (answer.kind === 'text' ? answer.tokens.join('') : '');
const callsOf = (answer: RuleAnswer) =>
  answer.kind === 'tool_call' ? [[answer.name, JSON.parse(answer.arguments)]] : [];

describe('The answer', () => {
  it('has a token for each word of the node’s lines', () => {
    expect(at({})).toEqual({ kind: 'text', tokens: ['Hello. ', 'How ', 'can ', 'I ', 'help?'] });
  });

  it('streams Chinese in small pieces and loses nothing', () => {
    const answer = at({ node: { ...node, prompt: '說「您好，請問需要什麼服務？」' } });
    expect(textOf(answer)).toBe('您好，請問需要什麼服務？');
    expect(answer.kind === 'text' && answer.tokens.length).toBe(5);
  });

  it('is deterministic', () => {
    expect(at({})).toEqual(at({}));
  });

  it('quotes the best passage', () => {
    expect(textOf(at({ passage: 'We open at nine.' }))).toBe('We open at nine.');
  });

  it('names the rehearsal model where there is no pathway', () => {
    expect(textOf(ask({ messages: [user('Hi there')] }))).toBe(
      'This is the rehearsal model, which follows pathways by rules and has none here. You said: “Hi there”',
    );
    expect(textOf(ask({}))).toContain('rehearsal model');
  });

  it('reads the first 2,000 characters of a long message', () => {
    const said = 'My name is Amy. '.padEnd(3_000, 'and so on ');
    const extracted = (lastUserText: string) =>
      textOf(
        at(
          { lastUserText, variableConfigs: [{ name: 'name', type: 'string', description: 'The name.' }] },
          { purpose: 'extract' },
        ),
      );
    expect(textOf(ask({ messages: [user('x'.repeat(100_000))] })).length).toBeLessThan(2_200);
    expect(extracted(said)).toBe(extracted(said.slice(0, 2_000)));
    expect(extracted(said)).toContain('Amy');
  });
});

describe('The answer at a node with edges', () => {
  const move = (lastUserText: string, tools: readonly Tool[] = []) =>
    at({ choices: [book], lastUserText }, { purpose: 'answer_and_route', tools });

  it('takes an edge by the move tool, without text', () => {
    const answer = move('I want to book');
    expect(textOf(answer)).toBe('');
    expect(callsOf(answer)).toEqual([['move_to', { edge: 'e-book' }]]);
  });

  it('stays at the node where no edge matches', () => {
    const answer = move('what a day');
    expect([callsOf(answer), textOf(answer)]).toEqual([[], 'Hello. How can I help?']);
  });

  it('calls a tool that matches where no edge does', () => {
    const calls = callsOf(move('what is the weather in Paris', [weather]));
    expect(calls).toEqual([['get_weather', { city: 'Paris' }]]);
  });

  it('never calls the move tool as a client tool', () => {
    expect(callsOf(move('move to the conversation'))).toEqual([]);
  });
});

describe('Structured output', () => {
  type Question = 'route' | 'extract' | 'judge';
  const answer = (purpose: Question, situation: Situation, messages: readonly Message[] = []) =>
    JSON.parse(textOf(at(situation, { purpose, messages })));

  it('selects a route', () => {
    const route = (lastUserText: string) => answer('route', { choices: [book], lastUserText });
    expect(route('I want to book')).toEqual({ edge: 'e-book' });
    expect(route("I don't want to book")).toEqual({ edge: null });
  });

  it('extracts every requested variable', () => {
    const variableConfigs = [
      { name: 'guests', type: 'number', description: 'Number of guests' },
      { name: 'day', type: 'date', description: 'Day of the visit' },
      { name: 'name', type: 'string', description: 'Name of the caller' },
    ] as const;
    const lastUserText = "I'm Eva and we come tomorrow, four guests";
    const found = answer('extract', { variableConfigs, lastUserText, today: '2026-11-18' });
    expect(found).toEqual({ guests: 4, day: '2026-11-19', name: 'Eva' });
  });

  it('extracts a value that the agent has asked for', () => {
    const variableConfigs = [{ name: 'reason', type: 'string', description: 'The reason.' }] as const;
    const extracted = (content: string) =>
      answer('extract', { variableConfigs, lastUserText: 'A broken lamp' }, [{ role: 'assistant', content }]);
    expect(extracted('What is the reason for your call?')).toEqual({ reason: 'A broken lamp' });
    expect(extracted('Hello.')).toEqual({ reason: null });
  });

  it('judges with a reason that names the rule', () => {
    const criteria = [
      { name: 'booked', description: 'The agent confirmed the booking of a table' },
      { name: 'refund', description: 'A refund was promised' },
      { name: 'no prices', description: 'The agent did not mention prices' },
    ];
    const conversation: Message[] = [
      { role: 'system', content: 'Judge whether a refund was promised.' },
      user('I want to book a table'),
      { role: 'assistant', content: 'I confirmed your table.' },
    ];
    const results: Verdict[] = answer('judge', { criteria }, conversation).results;
    expect(results.map(({ name, passed }) => [name, passed])).toEqual([
      ['booked', true],
      ['refund', false],
      ['no prices', true],
    ]);
    for (const { reason } of results) expect(reason).toMatch(/^judged by rule: /);
  });
});

it('The summary quotes the start and the end', () => {
  const messages: Message[] = [
    user('I want to book. For four.'),
    { role: 'assistant', content: 'Which day?' },
    user('Tomorrow. Thanks.'),
    { role: 'assistant', content: 'Done. Goodbye.' },
  ];
  expect(textOf(at({}, { purpose: 'summarise', messages }))).toBe(
    'The person began: “I want to book.” and said last: “Thanks.” The agent said last: “Goodbye.”',
  );
  expect(textOf(at({}, { purpose: 'summarise' }))).toBe('Nothing was said.');
  expect(textOf(at({}, { purpose: 'summarise', messages: [user('x'.repeat(9999))] })).length).toBeLessThan(
    300,
  );
});

describe('Tools', () => {
  const end: Tool = {
    name: 'end_call',
    description: 'Ends the conversation, after your farewell.',
  };
  const chat = (text: string, more: Partial<RuleRequest> = {}) =>
    ask({ tools: [weather, end], messages: [user(text)], ...more });

  it.each<[string, Partial<RuleRequest>, unknown[]]>([
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
  ])('%s %j', (text, request, calls) => {
    expect(callsOf(chat(text, request))).toEqual(calls);
  });

  it('asks for a missing argument', () => {
    const answer = chat('how is the weather');
    expect([callsOf(answer), textOf(answer)]).toEqual([[], 'Could you tell me the city?']);
  });

  it('calls a tool that the prompt names, when no argument is missing', () => {
    const farewell = { ...node, prompt: 'Use end_call now.' };
    expect(callsOf(at({ node: farewell }, { tools: [end] }))).toEqual([['end_call', {}]]);
    const look = { ...node, prompt: 'Use get_weather. Say "Which city?"' };
    expect(textOf(at({ node: look, lastUserText: 'hello' }, { tools: [weather] }))).toBe('Which city?');
  });

  const booking: Tool = { name: 'book_appointment', description: 'Books an appointment.' };
  const atDesk = (prompt: string, lastUserText: string) =>
    callsOf(at({ node: { ...node, prompt }, lastUserText }, { tools: [booking] })).length > 0;

  it.each([
    ['Yes, please.', true],
    ['Book the appointment.', true],
    ['I want to book an appointment.', true],
    ['No.', false],
    ["Don't book an appointment.", false],
    ['Not yet.', false],
    ['Let me think about the appointment.', false],
    ['I would like to think about it.', false],
    ['What is an appointment?', false],
    ['If I book an appointment, what does it cost?', false],
    ['I booked an appointment last week.', false],
    ['I am a person.', false],
    ['Yes, we are coming.', true],
    ['Yes, book it for today.', true],
    ['Yes, I heard you.', false],
    ['Okay okay, stop talking.', false],
    ['Yes, I know.', false],
    ['Please hold the appointment.', false],
    ['Could you explain the appointment?', false],
    ['You want me to book an appointment?', false],
    ['Great, now I have to find my card.', false],
    ['Yes, I want to move it.', false],
    ['Can I book it later?', false],
    ['Can you confirm that it is an appointment?', false],
    ['She said "yes, book it" but I disagree.', false],
    ['My wife says yes, so please book it.', true],
    ["Yes, that's what I'm asking you.", false],
    ["Let's book the appointment next week.", false],
    ['Yeah right.', false],
    ['Yes, I can come on Monday.', true],
  ])('calls a tool that the prompt ties to a condition for “%s”: %s', (text, isCalled) => {
    expect(atDesk('When the caller agrees, call book_appointment.', text)).toBe(isCalled);
  });

  it('calls no tool that the prompt forbids', () => {
    expect(atDesk('Do not call book_appointment here.', 'Yes.')).toBe(false);
  });

  it('passes the whole message to a free-text parameter', () => {
    const search: Tool = {
      name: 'search',
      description: 'Searches the manual',
      parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    };
    const text = 'search the manual for fuses';
    expect(callsOf(chat(text, { tools: [search] }))).toEqual([['search', { query: text }]]);
  });

  it.each([
    ['{"temperature": 21, "sky": "clear", "more": {"a": 1}}', 'temperature: 21, sky: clear.'],
    ['It is sunny.', 'It is sunny.'],
    ['"sunny"', 'sunny'],
    ['{}', 'That is done.'],
    ['', 'That is done.'],
  ])('answers with the result %s and does not call again', (content, told) => {
    const messages: Message[] = [
      user('What is the weather in Paris?'),
      { role: 'assistant', content: null },
      { role: 'tool', content },
      { role: 'system', content: 'The step.' },
    ];
    const answer = chat('', { messages });
    expect([callsOf(answer), textOf(answer)]).toEqual([[], told]);
  });
});
