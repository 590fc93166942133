import { describe, expect, test } from 'vitest';
import { type AgentConfig, newAgentConfig } from '../../../src/agents/agentConfig.ts';
import type { Amounts } from '../../../src/agents/cost/usage.ts';
import type { SessionMessage } from '../../../src/engine/session/session.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { type JudgedSession, judgeSession } from '../../../src/results/analysis/judgeSession.ts';
import { questionOf } from '../../../src/results/analysis/question.ts';
import { type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const NEVER = new AbortController().signal;
const said = (role: 'user' | 'assistant', content: string): SessionMessage => ({
  role,
  content,
  at: '2026-03-14T09:00:00.000Z',
});

const criteria = [
  { name: 'booked', description: 'A table was booked.' },
  { name: 'polite', description: 'The agent was polite.' },
];
const score = { name: 'warmth', description: 'How warm the agent was.', type: 'score' as const };
const dispositions = [
  { value: 'booked', description: 'A table was booked.', success: true },
  { value: 'declined', description: 'The person wants none.', success: false },
  { value: 'other', description: 'Anything else.' },
];
const data = {
  type: 'object',
  properties: { guests: { type: 'integer' }, day: { type: 'string', format: 'date' } },
  required: ['guests'],
};
const ANALYSIS = { dispositions, data };
const FULL = { summary: 'Booked for two.', disposition: 'booked', data: { guests: 2, day: null } };
const DONE = {
  status: 'done',
  summary: 'Booked for two.',
  disposition: 'booked',
  success: true,
  data: { guests: 2 },
  model: 'm',
};

/** An ended session of an agent, on a scripted model. */
function scene(
  agent: Partial<AgentConfig>,
  answer: (index: number) => ScriptedAnswer,
  ended: Partial<JudgedSession> = {},
) {
  const model = scriptedModel((_request, index) => answer(index));
  const clock = createSimulatedClock();
  const errors: string[] = [];
  const added: Amounts[] = [];
  const deps = {
    models: {
      chat: model,
      smart: 'm',
      balance: 'm',
      turbo: 'm',
      choose: (_projectId: string, config: { readonly model?: string | undefined }) => ({
        chat: model,
        modelName: config.model ?? 'm',
      }),
    },
    schemas: {
      checkSchema: async () => undefined,
      checkArguments: async (_projectId: string, _schema: object, given: object) =>
        'guests' in given && typeof given.guests === 'number' ? undefined : '/guests must be integer',
    },
    history: { addUsage: async (_instanceId: string, used: Amounts) => void added.push(used) },
    clock,
    onError: (error: unknown, what: string) => void errors.push(`${what}: ${String(error)}`),
  };
  const session = {
    projectId: 'p',
    instanceId: 'i',
    startedAt: '2026-03-14T09:00:00.000Z',
    agent: { ...newAgentConfig('Test'), ...agent },
    messages: [said('user', 'A table for two'), said('assistant', 'Done.')],
    ...ended,
  };
  const judge = (signal = NEVER) => judgeSession(deps, session, signal);
  return {
    model,
    clock,
    errors,
    added,
    judge,
    prompt: (n = 0) => model.requests[n]?.messages.at(-1)?.content ?? '',
  };
}

test('What a model took to judge a session is reported, also where its answer is no use', async () => {
  const { added, judge } = scene({ postEvaluationConfig: { criteria } }, () => ({ text: 'Well…' }));
  await judge();
  expect(added).toEqual([
    {
      'afterwards/inputTokens/m': 20,
      'afterwards/outputTokens/m': 4,
      'afterwards/cachedInputTokens/m': 0,
    },
  ]);
});

describe('The evaluation of a session', () => {
  const agent = { postEvaluationConfig: { criteria } };

  test('has a verdict for each criterion, also where the model forgot one', async () => {
    const results = [{ name: 'booked', passed: true, reason: 'It was.' }];
    const { judge, model, prompt } = scene(agent, () => ({ json: { results } }));
    expect(await judge()).toEqual({
      evaluation: {
        criteria: [results[0], { name: 'polite', passed: false, reason: 'The model gave no verdict.' }],
      },
      analysis: undefined,
    });
    expect(model.requests).toMatchObject([
      { purpose: 'judge', temperature: 0, jsonSchema: { name: 'judge' } },
    ]);
    expect(prompt()).toMatch(/- booked: A table was booked\.\n- polite: /);
  });

  test('has scores from 1 to 5, which have no verdict', async () => {
    const { judge } = scene({ postEvaluationConfig: { criteria: [...criteria, score] } }, () => ({
      json: { results: [], scores: [{ name: 'warmth', score: 4, reason: 'Kind.' }] },
    }));
    expect((await judge()).evaluation?.criteria[2]).toEqual({
      name: 'warmth',
      type: 'score',
      score: 4,
      reason: 'Kind.',
    });
  });

  test('asks again once for a score outside of 1 to 5, and has none then', async () => {
    const { judge, model, prompt } = scene({ postEvaluationConfig: { criteria: [score] } }, () => ({
      json: { scores: [{ name: 'warmth', score: 9, reason: 'Kind.' }] },
    }));
    // Nothing could be read.
    expect(await judge()).toEqual({ evaluation: undefined, analysis: undefined });
    expect(model.requests).toHaveLength(2);
    expect(prompt(1)).toMatch(/^That answer does not fit: scores\/0\/score: /);
  });

  test.each<[string, Partial<AgentConfig>, readonly SessionMessage[]]>([
    ['without criteria', {}, [said('assistant', 'Hi')]],
    ['where the agent said nothing', agent, [said('user', 'Hi')]],
  ])('is not made %s', async (_what, config, messages) => {
    const { judge, model } = scene(config, () => ({ json: {} }), { messages });
    expect(await judge()).toEqual({ evaluation: undefined, analysis: undefined });
    expect(model.requests).toEqual([]);
  });
});

describe('The analysis of a session', () => {
  test('fails with a clear reason where the data are nested very deep', async () => {
    const deep = `{"data":{"tree":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`;
    const analysis = { summary: false, data: { type: 'object', properties: { tree: {} } } };
    const { judge } = scene({ analysis }, () => ({ text: [deep] }));
    expect((await judge()).analysis).toMatchObject({
      status: 'failed',
      reason: 'data: it is nested more than 64 levels deep',
    });
  });

  test('has what the agent asks for, in one request with the evaluation', async () => {
    const results = [{ name: 'booked', passed: true, reason: 'It was.' }];
    const agent = {
      postEvaluationConfig: { criteria: criteria.slice(0, 1) },
      analysis: { ...ANALYSIS, instructions: 'Be brief.' },
      timezone: 'Asia/Taipei',
    };
    const { judge, model, prompt } = scene(agent, () => ({ json: { ...FULL, results } }));
    expect(await judge()).toEqual({ evaluation: { criteria: results }, analysis: DONE });
    expect(model.requests).toHaveLength(1);
    for (const told of [
      '- booked: A table was booked.',
      '- declined: The person wants none.',
      JSON.stringify(data),
      'Instructions: Be brief.',
      'Today is Saturday, 2026-03-14, 17:00',
    ])
      expect(prompt()).toContain(told);
    expect(model.requests[0]?.jsonSchema?.schema).toMatchObject({
      required: ['results', 'summary', 'disposition', 'data'],
      properties: {
        disposition: { enum: ['booked', 'declined', 'other', null] },
        data: {
          properties: { guests: { type: 'integer' }, day: { type: ['string', 'null'] } },
          required: ['guests', 'day'],
        },
      },
    });
  });

  test.each([
    ['a disposition that says nothing of success', { ...FULL, disposition: 'other' }, 'other', undefined],
    ['one that is no success', { ...FULL, disposition: 'declined' }, 'declined', false],
    ['none', { ...FULL, disposition: null }, undefined, undefined],
    ['one in other letters', { ...FULL, disposition: ' Declined' }, 'declined', false],
  ])('has %s', async (_what, answer, disposition, success) => {
    const { judge } = scene({ analysis: ANALYSIS }, () => ({ json: answer }));
    expect((await judge()).analysis).toEqual({ ...DONE, disposition, success });
  });

  test('asks a model of its own beside that of the evaluation', async () => {
    const agent = { postEvaluationConfig: { criteria }, analysis: { model: 'large' } };
    const { judge, model } = scene(agent, () => ({ json: { results: [], summary: 'Booked.' } }));
    expect((await judge()).analysis).toEqual({ status: 'done', summary: 'Booked.', model: 'large' });
    const asked = model.requests.map(({ model, jsonSchema }) => [
      model,
      Object.keys(jsonSchema?.schema.properties ?? {}),
    ]);
    expect(asked).toEqual([
      ['large', ['summary']],
      ['m', ['results']],
    ]);
    const same = scene({ ...agent, analysis: { model: 'm' } }, () => ({ json: {} }));
    await same.judge();
    expect(same.model.requests[0]?.jsonSchema?.schema.required).toEqual(['results', 'summary']);
  });

  test.each<[string, ScriptedAnswer, RegExp]>([
    [
      'data that break their schema',
      { json: { ...FULL, data: { guests: 'two' } } },
      /^data: \/guests must be integer$/,
    ],
    ['a disposition that was not offered', { json: { ...FULL, disposition: 'sold' } }, /^disposition: /],
    ['broken JSON', { text: '{"summary": "Boo' }, /^it is no JSON object: \{"summary": "Boo$/],
    ['a refusal', { text: ' I cannot help. ' }, /^it is no JSON object: I cannot help\.$/],
    ['nothing', { text: '' }, /^the model answered nothing$/],
    ['an answer that was cut off', { text: '{"summ', finishReason: 'length' }, /limit of tokens$/],
    ['an empty summary', { json: { ...FULL, summary: ' ' } }, /^summary: /],
  ])('asks again once after %s, and then has failed with the fault', async (_what, wrong, fault) => {
    const agent = { analysis: ANALYSIS };
    const second = scene(agent, (index) => (index === 0 ? wrong : { json: FULL }));
    expect((await second.judge()).analysis).toEqual(DONE);
    expect(second.prompt(1)).toMatch(/^That answer does not fit: /);
    const never = scene(agent, () => wrong);
    expect((await never.judge()).analysis).toEqual({
      status: 'failed',
      reason: expect.stringMatching(fault),
      model: 'm',
    });
    expect(never.model.requests).toHaveLength(2);
  });

  test('keeps the evaluation of an answer whose other parts do not fit', async () => {
    const results = [{ name: 'booked', passed: true, reason: 'Yes.' }];
    const agent = { analysis: ANALYSIS, postEvaluationConfig: { criteria: criteria.slice(0, 1) } };
    const { judge } = scene(agent, () => ({ json: { results, summary: 7 } }));
    expect(await judge()).toMatchObject({
      evaluation: { criteria: results },
      analysis: { status: 'failed' },
    });
  });

  test('has failed where the model fails, or writes without end, and asks no more', async () => {
    const away = scene({ analysis: ANALYSIS }, () => ({ fail: new Error('the endpoint is away') }));
    const failed = { status: 'failed', reason: 'the endpoint is away', model: 'm' };
    expect((await away.judge()).analysis).toEqual(failed);
    const endless = scene({ analysis: ANALYSIS }, () => ({
      json: { ...FULL, summary: 'x'.repeat(300_000) },
    }));
    expect((await endless.judge()).analysis?.reason).toBe('The model wrote more than 100000 characters');
    expect([away.model.requests.length, endless.model.requests.length]).toEqual([1, 1]);
    expect(away.errors).toEqual(['session not judged: Error: the endpoint is away']);
  });

  test('waits for as long as a busy endpoint asks for, and sends at most three requests', async () => {
    const busy = (retryAfterSeconds: number) => ({
      fail: new ModelError('model_unavailable', 'The endpoint is busy', { retryAfterSeconds }),
    });
    const { judge, clock, model } = scene({ analysis: ANALYSIS }, (index) =>
      index === 1 ? { json: FULL } : busy(20),
    );
    const done = judge();
    await new Promise(setImmediate);
    clock.advance(19_999);
    expect(model.requests).toHaveLength(1);
    clock.advance(1);
    expect((await done).analysis).toEqual(DONE);
    const answers = [busy(1), { json: { ...FULL, data: {} } }, busy(1), { json: FULL }];
    const mixed = scene({ analysis: ANALYSIS }, (index) => answers[index] ?? {});
    const failed = mixed.judge();
    await new Promise(setImmediate);
    mixed.clock.advance(1_000);
    expect((await failed).analysis).toMatchObject({ status: 'failed', reason: 'The endpoint is busy' });
    expect(mixed.model.requests).toHaveLength(3);
    const long = scene({ analysis: ANALYSIS }, () => busy(3_600));
    expect((await long.judge()).analysis).toMatchObject({ status: 'failed' });
    expect(long.model.requests.map(({ attempts }) => attempts)).toEqual([1]);
  });

  test('has failed after 60 s with a model that never ends', async () => {
    const { clock, judge, model } = scene({ analysis: ANALYSIS }, () => ({ text: '{', hang: true }));
    const done = judge();
    await new Promise(setImmediate);
    clock.advance(60_000);
    expect((await done).analysis?.reason).toBe('The model took longer than 60 s');
    expect([model.abortedRequests(), clock.pendingTimers()]).toEqual([1, 0]);
  });

  test('is left to another node when its own stops', async () => {
    const { judge, clock } = scene({ analysis: ANALYSIS }, () => ({ text: '{', hang: true }));
    const closing = new AbortController();
    const done = expect(judge(closing.signal)).rejects.toThrow('the service stops');
    await new Promise(setImmediate);
    closing.abort(new Error('the service stops'));
    await done;
    expect(clock.pendingTimers()).toBe(0);
  });

  test('is skipped where the agent said nothing', async () => {
    const { judge, model } = scene({ analysis: ANALYSIS }, () => ({}), {
      messages: [said('user', 'Hello?')],
    });
    const skipped = { status: 'skipped', reason: 'The agent said nothing.', model: 'm' };
    expect((await judge()).analysis).toEqual(skipped);
    expect(model.requests).toEqual([]);
  });

  test('of a session of 500 turns reads its first and last ones, in 60 KB', async () => {
    const messages = Array.from({ length: 500 }, (_, turn) => [
      said('user', `question ${turn} ${'word '.repeat(60)}`),
      said('assistant', `answer ${turn} ${'word '.repeat(60)}`),
    ]).flat();
    const { judge, model } = scene({ analysis: ANALYSIS }, () => ({ json: FULL }), { messages });
    expect((await judge()).analysis).toEqual(DONE);
    const sent = JSON.stringify(model.requests[0]?.messages);
    expect(Buffer.byteLength(sent)).toBeLessThan(61_000);
    for (const part of [
      'question 0 ',
      'answer 10 ',
      'messages are left out here',
      'question 480 ',
      'answer 499 ',
    ])
      expect(sent).toContain(part);
  });

  test('takes null for data of which nothing was said', () => {
    const question = questionOf({ criteria: [], analysis: { summary: false, data } });
    expect(question?.read({ data: null })).toEqual({ data: {}, fault: undefined });
  });

  test('names the keys of the answer to endpoints that leave its format aside', async () => {
    const agent = { postEvaluationConfig: { criteria: [...criteria, score] }, analysis: ANALYSIS };
    const { judge, prompt } = scene(agent, () => ({ json: {} }));
    await judge();
    for (const told of [
      '`results` of `{name, passed, reason}`',
      '`scores` of `{name, score, reason}`',
      'one JSON object with these keys: results, scores, summary, disposition, data.',
    ])
      expect(prompt()).toContain(told);
  });

  test('tells a schema that structured outputs do not take in words alone', async () => {
    const open = {
      type: 'object',
      properties: { guests: { $ref: '#/$defs/guests' } },
      $defs: { guests: {} },
    };
    const { judge, model, prompt } = scene({ analysis: { data: open } }, () => ({
      json: { summary: 'Booked.', data: { guests: 2 } },
    }));
    expect((await judge()).analysis?.data).toEqual({ guests: 2 });
    expect(model.requests[0]).toMatchObject({ responseFormat: { type: 'json_object' } });
    expect(prompt()).toContain('one JSON object with these keys: summary, data.');
  });
});
