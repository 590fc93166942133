import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChatConfig } from '../../src/agents/chat/chatConfig.ts';
import type { ProviderCredentials } from '../../src/agents/speech/providerCredentials.ts';
import { ModelError } from '../../src/models/ports/modelError.ts';
import type { Credentials } from '../../src/models/providerOptions.ts';
import { SelectedChatModels } from '../../src/models/selection/chatModels.ts';
import { ProjectCredentialCache } from '../../src/models/selection/projectCredentialCache.ts';
import { memoryEngine, PROJECT } from '../support/memoryEngine.ts';
import { type ScriptedAnswer, scriptedModel } from '../support/scriptedModel.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const PLACES = [['agent'], ['node']] as const;
const KEY = { name: 'openai', baseUrl: null, updatedAt: '2026-01-01T00:00:00.000Z' } as const;

interface Options {
  readonly executionMode?: 'smart' | 'balance' | 'turbo';
  readonly agent?: ChatConfig;
  readonly node?: ChatConfig;
  /** Answers of the installation's model, and of the others. */
  readonly answer?: (model: string) => ScriptedAnswer;
  readonly stored?: () => Promise<readonly ProviderCredentials[]>;
}

function conversation({
  executionMode = 'balance',
  agent,
  node,
  answer = () => ({ text: 'Hello.' }),
  stored = async () => [],
}: Options) {
  const clock = createSimulatedClock();
  const installation = scriptedModel(({ model }) => answer(model));
  const opened: { endpoint: string; credentials: Credentials; isGuarded: boolean }[] = [];
  const other = scriptedModel(({ model }) => answer(model));
  const failures: unknown[] = [];
  const used: string[] = [];
  const counted: unknown[] = [];
  const models = new SelectedChatModels({
    endpoint: 'openai',
    installation,
    credentials: (name) => (name === 'anthropic' ? { apiKey: 'ours' } : {}),
    projectCredentials: new ProjectCredentialCache(stored, clock, (error) => failures.push(error)),
    guard: { policy: { allowInsecureLoopback: false }, lookup: async () => [] },
    open: async (endpoint, credentials, guard) => {
      opened.push({ endpoint, credentials, isGuarded: guard !== undefined });
      return { chat: other, close: async () => undefined };
    },
    models: (endpoint) => tiersOf(endpoint),
    allowsModel: (model) => model !== 'forbidden',
    onModelUsed: (model) => used.push(model),
    usage: { add: (projectId, usage) => void counted.push([projectId, usage]) },
    clock,
    onError: (error) => void failures.push(error),
  });
  onTestFinished(() => models.close());
  const data = { title: 'Talk', prompt: 'Talk.', ...(node ? { chat: node } : {}) };
  const memory = memoryEngine({
    model: installation,
    choose: (...choice) => models.choose(...choice),
    agent: { executionMode, chat: agent ?? null },
    pathway: { nodes: [{ id: 'start', type: 'start', data }], edges: [] },
    clock,
  });
  return { ...memory, models, clock, installation, other, opened, failures, used, counted };
}

/** As `memoryEngine` has them, or with the endpoint's name. */
const tiersOf = (endpoint: string) => {
  const prefix = endpoint === 'openai' ? 'm' : endpoint;
  return { smart: `${prefix}-smart`, balance: `${prefix}-balance`, turbo: `${prefix}-turbo` };
};

const DOWN_AT_FIRST: Options = {
  agent: { model: 'm-own', fallback: ['m-next'] },
  answer: (model) => (model === 'm-own' ? { fail: down() } : { text: 'Hello.' }),
};

const down = (retryable = false) => new ModelError('model_unavailable', 'is down', { retryable });

test.each(PLACES)(
  'model, temperature, maxTokens and reasoningEffort of the %s are asked for',
  async (place) => {
    const chat = { model: 'm-own', temperature: 0.3, maxTokens: 50, reasoningEffort: 'low' } as const;
    const { say, installation } = conversation({ [place]: chat });
    await say('Hello?');
    expect(installation.requests.at(-1)).toMatchObject({
      model: 'm-own',
      temperature: 0.3,
      maxOutputTokens: 50,
      passthrough: { reasoning_effort: 'low' },
    });
    await say('Again?', { temperature: 0.9, maxOutputTokens: 7, passthrough: { reasoning_effort: 'high' } });
    expect(installation.requests.at(-1)).toMatchObject({
      ...{ temperature: 0.9, maxOutputTokens: 7, passthrough: { reasoning_effort: 'high' } },
    });
  },
);

test('A model that the operator does not allow is left out, also where it was saved before', async () => {
  const { say, installation } = conversation({ agent: { model: 'forbidden', fallback: ['m-own'] } });
  await say('Hello?');
  expect(installation.requests.map(({ model }) => model)).toEqual(['m-own']);
  const alone = conversation({ agent: { model: 'forbidden' } });
  await expect(alone.say('Hello?')).rejects.toMatchObject({ code: 'model_rejected' });
  expect(alone.installation.requests).toEqual([]);
});

test.each(PLACES)('endpoint of the %s answers, with its own model', async (place) => {
  const { say, installation, other, opened } = conversation({ [place]: { endpoint: 'anthropic' } });
  await say('Hello?');
  expect([installation.requests.length, other.requests[0]?.model]).toEqual([0, 'anthropic-balance']);
  expect(opened).toEqual([{ endpoint: 'anthropic', credentials: { apiKey: 'ours' }, isGuarded: false }]);
});

test('A node’s endpoint does not get the agent’s model, and keeps its temperature', async () => {
  const agent = { model: 'gpt-own', temperature: 0.3 };
  const { say, other } = conversation({ agent, node: { endpoint: 'google' } });
  await say('Hello?');
  expect(other.requests[0]).toMatchObject({ model: 'google-balance', temperature: 0.3 });
});

test.each(PLACES)('fallback of the %s answers in order, and is noted', async (place) => {
  const fallback = ['m-second', { endpoint: 'anthropic', model: 'm-third', temperature: 0.5 }] as const;
  const { turn, say, other, events } = conversation({
    [place]: { model: 'm-first', temperature: 0.1, fallback: [...fallback] },
    answer: (model) => (model === 'm-third' ? { text: 'Here I am.' } : { fail: down() }),
  });
  const outputs = await turn({ kind: 'user_message', text: 'Hello?' });
  expect(outputs.at(-1)).toMatchObject({ type: 'done', model: 'm-third' });
  expect(other.requests[0]).toMatchObject({ model: 'm-third', temperature: 0.5 });
  expect(events().flatMap(({ type, data }) => (type === 'provider_fallback' ? [data] : []))).toEqual([
    { kind: 'chat', from: 'openai/m-first', to: 'openai/m-second', reason: 'is down' },
    { kind: 'chat', from: 'openai/m-second', to: 'anthropic/m-third', reason: 'is down' },
  ]);
  // The others are left alone for a while.
  const asked = other.requests.length;
  expect(await say('And now?')).toBe('Here I am.');
  expect(other.requests).toHaveLength(asked + 1);
});

test('A model that does not begin within 1.5 s is left', async () => {
  const slow = (model: string) => (model === 'm-slow' ? { hang: true } : { text: 'Here.' });
  const { say, clock, installation } = conversation({
    agent: { model: 'm-slow', fallback: ['m'] },
    answer: slow,
  });
  const said = say('Hello?');
  await expect.poll(() => installation.requests.length).toBe(1);
  clock.advance(1500);
  expect(await said).toBe('Here.');
  expect(installation.abortedRequests()).toBe(1);
});

test('A failure after the first word is that of the turn', async () => {
  const { say, installation } = conversation({
    agent: { fallback: ['m'] },
    answer: () => ({ text: 'Well', fail: down().afterFirstToken() }),
  });
  await expect(say('Hello?')).rejects.toThrow('is down');
  expect(installation.requests).toHaveLength(1);
});

test('A project’s own credentials are used, also where the agent names nothing', async () => {
  const credentials = [{ ...KEY, apiKey: 'theirs' }];
  const own = conversation({ stored: async () => credentials });
  await own.say('Hello?');
  expect(own.opened).toEqual([
    { endpoint: 'openai', credentials: { apiKey: 'theirs', baseUrl: undefined }, isGuarded: false },
  ]);
  const elsewhere = [{ ...KEY, apiKey: 'theirs', baseUrl: 'https://models.example.test' }];
  const guarded = conversation({ stored: async () => elsewhere });
  await guarded.say('Hello?');
  expect(guarded.opened[0]?.isGuarded).toBe(true);
});

test('Without the database, the installation’s credentials answer', async () => {
  const { say, installation, failures } = conversation({
    stored: () => Promise.reject(new Error('the database is down')),
  });
  expect(await say('Hello?')).toBe('Hello.');
  expect([installation.requests.length, failures.length]).toEqual([1, 1]);
});

test.each(['smart', 'balance', 'turbo'] as const)(
  'An endpoint that is named without a model has its own model for the mode %s',
  async (executionMode) => {
    const { say, other } = conversation({ agent: { endpoint: 'google' }, executionMode });
    await say('Hello?');
    expect(other.requests[0]?.model).toBe(`google-${executionMode}`);
  },
);

test('A model that an agent names is reported when it is asked, the installation’s is not', async () => {
  const named = conversation({ agent: { model: 'm-own', fallback: ['m-next'] } });
  await named.say('Hello?');
  const plain = conversation({});
  await plain.say('Hello?');
  expect([new Set(named.used), plain.used]).toEqual([new Set(['m-own']), []]);
});

describe('Tokens on the installation’s credentials count for the project', () => {
  const SPENT = [PROJECT, { installationTokens: 12 }];
  const own = async () => [{ ...KEY, apiKey: 'theirs' }];

  test.each<[string, Options, unknown[]]>([
    ['of the model of the settings', {}, [SPENT]],
    ['of another endpoint', { agent: { endpoint: 'anthropic' } }, [SPENT]],
    ['of the next model, where the first one is down', DOWN_AT_FIRST, [SPENT]],
    ['but none on the project’s own', { stored: own }, []],
    ['but none on its own for the endpoint that it names', { stored: own, agent: { model: 'm-own' } }, []],
    [
      'of an endpoint that the project has no key of',
      { stored: own, agent: { endpoint: 'google' } },
      [SPENT],
    ],
  ])('%s', async (_, options, expected) => {
    const { say, counted } = conversation(options);
    await say('Hello?');
    expect(counted).toEqual(expected);
  });

  test('of a local model, and of those that play a test', async () => {
    const { models, counted } = conversation({});
    const request = { model: 'm', messages: [{ role: 'user', content: 'Hello?' }] } as const;
    const { chat } = models.choose(PROJECT, { endpoint: 'local' }, 'turbo', () => undefined);
    for (const one of [chat, models.ofInstallation(PROJECT)])
      for await (const _event of one.stream(request, new AbortController().signal));
    expect(counted).toEqual([SPENT, SPENT]);
  });

  test('as they are estimated, where the answer is not read to its end', async () => {
    const { models, counted } = conversation({ answer: () => ({ text: ['12345678', 'more'] }) });
    const messages = [{ role: 'user', content: 'x'.repeat(4000) }] as const;
    const stream = models
      .ofInstallation(PROJECT)
      .stream({ model: 'm', messages }, new AbortController().signal);
    for await (const _event of stream) break;
    expect(counted).toEqual([[PROJECT, { installationTokens: expect.closeTo(1010, -1.5) }]]);
  });

  test('but none of a request that was not answered', async () => {
    const { models, counted } = conversation({ answer: () => ({ fail: down() }) });
    const request = { model: 'm', messages: [] };
    const read = async () => {
      for await (const _event of models
        .ofInstallation(PROJECT)
        .stream(request, new AbortController().signal));
    };
    await expect(read()).rejects.toThrow('is down');
    expect(counted).toEqual([]);
  });
});
