import { describe, expect, test } from 'vitest';

import { type AgentConfig, newAgentConfig } from '../../../src/agents/agentConfig.ts';
import type { Amounts } from '../../../src/agents/cost/usage.ts';
import { customerOf } from '../../../src/engine/memory/customerMemory.ts';
import { type EndedSession, rememberSession } from '../../../src/engine/memory/rememberSession.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';
import { pathway } from '../turn/support/bookingPathway.ts';

const NEVER = new AbortController().signal;

test.each([
  [{ customerId: 'c-1' }, '+886912345678', 'phone:+886912345678'],
  [{ customerId: ' c-1 ' }, undefined, 'id:c-1'],
  [{ customerId: 7 }, undefined, 'id:7'],
  [{ customerId: 'c'.repeat(255) }, undefined, `id:${'c'.repeat(255)}`],
  [{ customerId: 'c'.repeat(256) }, undefined, undefined],
  [{ customerId: ' ' }, undefined, undefined],
  [{ customerId: { id: 1 } }, undefined, undefined],
  [{}, '', undefined],
])('The customer of a session with %j and the number %s is %s', (variables, number, customer) => {
  expect(customerOf(variables, number)).toBe(customer);
});

/** The memory of an agent's customers, on a scripted model. */
function scene(
  answer: (index: number) => ScriptedAnswer,
  agent: Partial<AgentConfig>,
  ended: Partial<EndedSession> = {},
) {
  const model = scriptedModel((_request, index) => answer(index));
  const kept: unknown[][] = [];
  const added: object[] = [];
  const errors: string[] = [];
  const deps = {
    models: { chat: model, speed: 'm', balance: 'm', quality: 'm' } as never,
    memory: {
      find: async (_project: string, customer: string) =>
        customer === 'id:known' ? 'Likes tea.' : undefined,
      keep: async (...given: unknown[]) => void kept.push(given),
    },
    history: { addUsage: async (_instanceId: string, used: Amounts) => void added.push(used) },
    onError: (_error: unknown, what: string) => void errors.push(what),
  };
  const session = {
    projectId: 'p',
    instanceId: 'i',
    release: { agent: { ...newAgentConfig('Test'), ...agent } },
    messages: [
      { role: 'user', content: 'A table for two' },
      { role: 'assistant', content: 'Done.' },
    ],
    variables: { customerId: 'known' },
    ...ended,
  } as unknown as EndedSession;
  return { model, kept, added, errors, session, remember: () => rememberSession(deps, session, NEVER) };
}

describe('The memory of a customer', () => {
  test('gets what the session adds to what was known', async () => {
    const { added, errors, kept, model, remember } = scene(() => ({ text: 'Wants a table.' }), {
      memoryEnabled: true,
    });
    await remember();
    expect(added).toMatchObject([{ 'afterwards/inputTokens/m': 10 }]);
    expect(kept).toEqual([['p', 'id:known', 'Wants a table.\nFacts: {"customerId":"known"}', 'i']]);
    expect(model.requests[0]?.messages[0]?.content).toBe('Known of this person before:\nLikes tea.');
    expect(errors).toEqual([]);
  });

  test('of a new one is the summary alone, and is bounded', async () => {
    const ended = { variables: {}, phoneNumber: '+886912345678' };
    const { kept, model, remember } = scene(
      () => ({ text: 'a'.repeat(4_001) }),
      { memoryEnabled: true },
      ended,
    );
    await remember();
    expect(kept).toEqual([['p', 'phone:+886912345678', 'a'.repeat(4_000), 'i']]);
    expect(model.requests[0]?.messages[0]?.content).toBe('A table for two');
  });

  test.each<[string, Partial<AgentConfig>, Partial<EndedSession>]>([
    ['the agent has none', { memoryEnabled: false }, {}],
    ['nobody is known', { memoryEnabled: true }, { variables: {} }],
    ['nothing was said', { memoryEnabled: true }, { messages: [] }],
  ])('is left alone where %s', async (_what, agent, ended) => {
    const { kept, model, remember } = scene(() => ({ text: 'x' }), agent, ended);
    await remember();
    expect([kept, model.requests]).toEqual([[], []]);
  });

  test('stays as it was where the model fails', async () => {
    const { errors, kept, remember } = scene(() => ({ fail: new Error('away') }), {
      memoryEnabled: true,
    });
    await remember();
    expect([kept, errors]).toEqual([[], ['customer memory not updated']]);
  });
});

describe('A long conversation', () => {
  const LONG = 'word '.repeat(7_000);
  const purposes = (model: ReturnType<typeof scriptedModel>) => model.requests.map(({ purpose }) => purpose);

  test('is summarised, and goes on with the summary in place of its older half', async () => {
    const model = scriptedModel(({ purpose }) => ({
      text: purpose === 'summarise' ? 'They talked.' : 'Yes.',
    }));
    const conversation = memoryEngine({ model, pathway });
    await conversation.say('Hello');
    expect(purposes(model)).not.toContain('summarise');
    await conversation.say(LONG);
    expect(purposes(model).filter((one) => one === 'summarise')).toHaveLength(1);
    const { messages, summary } = conversation.session().state;
    expect([summary?.text, messages.map(({ content }) => content)]).toEqual(['They talked.', ['Yes.']]);
    expect(conversation.session().state.usage?.['inputTokens/m-balance']).toBe(10 * model.requests.length);
    await conversation.say('And now?');
    const texts = model.requests.at(-1)?.messages.map(({ content }) => content);
    expect(texts).toContain('What was said before:\nThey talked.');
    expect(texts).toContain('Yes.');
    expect(texts).not.toContain(LONG);
    expect(texts).not.toContain('Hello');
    expect(purposes(model).filter((one) => one === 'summarise')).toHaveLength(1);
  });

  test('goes on without a summary where that fails', async () => {
    const errors: string[] = [];
    const model = scriptedModel(({ purpose }) =>
      purpose === 'summarise' ? { fail: new Error('away') } : { text: 'Yes.' },
    );
    const conversation = memoryEngine({ model, pathway, onError: (_error, what) => errors.push(what) });
    await conversation.say(LONG);
    expect([conversation.session().state.summary, errors]).toEqual([null, ['conversation not summarised']]);
    expect(await conversation.say('And now?')).toBe('Yes.');
  });
});
