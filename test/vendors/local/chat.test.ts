import { describe, expect, it } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { AgentRelease } from '../../../src/agents/releases/release.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import { createChatClient } from '../../../src/models/chat/chatClient.ts';
import { judgeSession } from '../../../src/results/analysis/judgeSession.ts';
import { askJudge } from '../../../src/testing/assertions/judge.ts';
import { nextWords } from '../../../src/testing/play/persona.ts';
import { createRehearsalChat } from '../../../src/vendors/local/chat.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import { type MemoryOptions, memoryEngine } from '../../support/memoryEngine.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const forever = new AbortController().signal;
const model = createChatClient(createRehearsalChat({ makeId: () => '1-2' }), {
  clock: systemClock,
  timeoutMs: 5000,
});
const persona = { chat: model, modelName: 'any', seed: 0 };
/** What the model finds out of a session after its end. */
function judged(session: Session, release: AgentRelease) {
  const deps = {
    models: { chat: model, smart: 'm', balance: 'm', turbo: 'm' },
    schemas: { checkSchema: async () => undefined, checkArguments: async () => undefined },
    history: { addUsage: async () => undefined },
    clock: systemClock,
    onError: () => undefined,
  };
  const { messages } = session.state;
  return judgeSession(deps, { ...session, agent: release.agent, messages }, forever);
}
const pathway: PathwayInput = {
  nodes: [
    {
      id: 'hello',
      type: 'start',
      data: { title: 'Greet', prompt: 'Say "Welcome."\n\nSay "What can I do?"' },
    },
    { id: 'guests', type: 'conversation', data: { title: 'Guests', prompt: 'Ask how many guests come.' } },
    {
      id: 'hours',
      type: 'conversation',
      data: { title: 'Hours', prompt: 'Tell the hours.', expectedAnswers: ['nine', 'ten'] },
    },
    { id: 'bye', type: 'end', data: { title: 'Bye', prompt: 'Say "Until {{ day }}."' } },
  ],
  edges: [
    { id: 'books', source: 'hello', target: 'guests', data: { condition: 'The caller wants to book' } },
    { id: 'asks', source: 'hello', target: 'hours', data: { condition: 'The caller asks when we are open' } },
    { id: 'done', source: 'guests', target: 'bye', data: { condition: 'The caller gives a number' } },
    { id: 'ten', source: 'hours', target: 'guests', data: { condition: 'The caller said “ten”' } },
  ],
};

const conversation = (more: Partial<MemoryOptions> = {}) => {
  const clock = createSimulatedClock(Date.UTC(2026, 10, 18));
  return memoryEngine({ model, pathway, clock, ...more });
};

describe('The rehearsal model reads the prompts that every model gets', () => {
  it.each(['smart', 'balance', 'turbo'] as const)(
    'to follow a pathway in the mode %s',
    async (executionMode) => {
      const { say, session } = conversation({ agent: { executionMode } });
      expect(await say('Hello')).toBe('Welcome. What can I do?');
      expect(await say('What a day')).toBe('Welcome. What can I do?');
      expect(await say('I want to book a table', { instructions: ['Say "Yes, sir."'] })).toBe(
        'Could you tell me how many guests come?',
      );
      expect(session().state.currentNodeId).toBe('guests');
    },
  );

  it('to take the edge of an expected answer', async () => {
    const { say, session } = conversation();
    await say('When are you open?');
    await say('ten');
    expect(session().state.currentNodeId).toBe('guests');
  });

  it('to extract variables, with their types and the date of today', async () => {
    const variableConfigs = [
      { name: 'guests', type: 'number' as const, description: 'How many guests come', required: false },
      { name: 'day', type: 'date' as const, description: 'Day of the visit', required: false },
    ];
    const { say, session } = conversation({ agent: { variableConfigs } });
    await say('I want to book');
    await say('I want to book, we come tomorrow');
    await say('four');
    expect(session().state.variables).toEqual({ guests: 4, day: '2026-11-19' });
  });

  it('to ask for a required variable, and for nothing else', async () => {
    const day = { name: 'day', type: 'date' as const, description: 'The day of the visit', required: true };
    const { say } = conversation({ agent: { variableConfigs: [day] } });
    await say('Hello');
    await say('I want to book');
    expect(await say('I give you a number')).toBe('Could you tell me the day of the visit?');
  });

  it('to answer from a passage, without the name of its document', async () => {
    const passage = { content: 'We open at nine.', score: 1, datasetId: 'd', chunkId: 'c', source: 'a.txt' };
    const { say } = conversation({
      pathway: {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'Start' } },
          { id: 'faq', type: 'knowledge', data: { title: 'FAQ', prompt: 'Answer.' } },
        ],
        edges: [{ id: 'on', source: 'start', target: 'faq' }],
      },
      knowledge: { search: async () => [passage, { ...passage, content: 'We sell tea.' }] },
    });
    expect(await say('When do you open?')).toBe('We open at nine.');
  });

  it('to judge each criterion after a session', async () => {
    const { say, session, engine } = conversation();
    await say('I want to book a table');
    const release = await engine.releaseOf(session());
    const criteria = [
      { name: 'booked', description: 'The person wanted to book a table' },
      { name: 'refund', description: 'A refund was promised' },
    ];
    const agent = { ...release.agent, postEvaluationConfig: { criteria } };
    const { evaluation } = await judged(session(), { ...release, agent });
    expect(evaluation?.criteria).toMatchObject([
      { name: 'booked', passed: true },
      { name: 'refund', passed: false },
    ]);
  });

  it('to analyze a session, under its own name', async () => {
    const { say, session, engine } = conversation();
    await say('I want to book a table\n\nScore the goals, please');
    await say('We are four guests, and my name is Ann Lee.');
    const release = await engine.releaseOf(session());
    const agent = {
      ...release.agent,
      postEvaluationConfig: {
        criteria: [
          { name: 'booked', description: 'The person wanted to book a table\n\nScore the day' },
          { name: 'goal', description: 'Book a refund', type: 'score' as const },
        ],
      },
      analysis: {
        dispositions: [
          { value: 'refund', description: 'A refund was promised.' },
          { value: 'booking', description: 'They want to book a table.', success: true },
        ],
        data: {
          type: 'object',
          properties: {
            guests: { type: 'integer' },
            name: { type: 'string' },
            day: { type: 'string', format: 'date' },
          },
        },
      },
    };
    expect(await judged(session(), { ...release, agent })).toMatchObject({
      evaluation: { criteria: [{ passed: true }, { type: 'score', score: 3 }] },
      analysis: {
        status: 'done',
        summary: expect.stringContaining('The person began: “I want to book a table”'),
        disposition: 'booking',
        success: true,
        data: { guests: 4, name: 'Ann Lee' },
        model: 'callway-rehearsal',
      },
    });
  });

  it('to judge a test', async () => {
    const exchange = { turn: 0, caller: 'Book a table', agent: 'Done.', nodes: [], tools: [] };
    const seen = {
      exchanges: [{ ...exchange, digits: [], transfers: [] }],
      variables: {},
      endedBy: null,
    };
    const judged = (prompt: string) => askJudge(persona, { type: 'judge', prompt }, seen as never, forever);
    expect(await judged('A table was to be booked.')).toMatchObject({ passed: true });
    expect(await judged('A refund was promised.')).toMatchObject({ passed: false });
  });

  it('to play a caller', async () => {
    const amy = {
      prompt: 'You are Amy.\n\nYou are 30.',
      goal: 'Book a cleaning',
      traits: ['curt'],
      facts: { patientName: 'Amy Pond' },
      hangUpWhen: 'the cleaning is booked.',
    };
    const says = (exchanges: readonly { caller?: string; agent: string }[], as: object = amy) =>
      nextWords(persona, as as never, exchanges as never, forever);
    const asked = { caller: 'I would like to book a cleaning.', agent: 'What is your name?' };
    expect(await says([{ agent: 'How can I help?' }])).toMatchObject({ text: asked.caller, hangsUp: false });
    expect(await says([asked])).toMatchObject({ text: 'Amy Pond', hangsUp: false });
    expect(await says([{ ...asked, agent: 'Your cleaning is booked.' }])).toMatchObject({ hangsUp: true });
    expect(await says([{ agent: 'Hello.' }], { prompt: 'You want to cancel.' })).toMatchObject({
      text: 'I would like to cancel.',
    });
  });
});

it('Rehearsal model streams text word by word under its own name', async () => {
  const messages = [
    { role: 'system', content: 'You are at this step:\n## Greeting (start)\nSay "Hello there."' },
    { role: 'user', content: 'Good day to' },
  ] as const;
  expect(await arrayFromAsync(model.stream({ model: 'any', messages }, forever))).toEqual([
    { type: 'text', text: 'Hello ' },
    { type: 'text', text: 'there.' },
    {
      type: 'end',
      finishReason: 'stop',
      model: 'callway-rehearsal',
      usage: { promptTokens: 14, completionTokens: 2, totalTokens: 16 },
    },
  ]);
});

it('Rehearsal model stops when its request is aborted', async () => {
  const aborting = new AbortController();
  const request = { model: 'any', messages: [] };
  const events = model.stream(request, aborting.signal)[Symbol.asyncIterator]();
  await events.next();
  aborting.abort(new Error('gone'));
  await expect(events.next()).rejects.toThrow('gone');
});
