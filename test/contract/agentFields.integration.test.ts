import { beforeEach, expect, test } from 'vitest';
import { type ContractProject, contractRig, promptOf } from './support.ts';

const rig = contractRig();
let project: ContractProject;
beforeEach(async () => {
  Object.assign(rig.script, { say: 'Hello.', tool: undefined, route: null, extract: {}, judge: {} });
  rig.reply = { body: {} };
  project = await rig.project();
});

const agent = (patch: object) =>
  project.call('PATCH', '/agent', patch).then(({ status }) => expect(status).toBe(200));
const graph = (nodes: object[], edges: object[] = []) =>
  project.call('PUT', '/pathway', { nodes, edges }).then(({ status }) => expect(status).toBe(200));
const start = { id: 'start', type: 'start', data: { title: 'Start', prompt: 'Talk.' } };
const later = { id: 'later', type: 'conversation', data: { title: 'Later', prompt: 'The later step.' } };
const onlyWhenAsked = { id: 'e', source: 'start', target: 'later', data: { condition: 'They ask.' } };

test('globalPrompt is rendered and told to the model', async () => {
  await agent({ globalPrompt: 'You speak for {{ channel }} customers.' });
  await project.chat('Hi');
  expect(promptOf(project.asked('answer')[0])).toContain('You speak for chat customers.');

  const long = `For {{ channel }}: ${'be brief. '.repeat(9_900)}The end.`;
  await agent({ globalPrompt: long });
  await project.chat('Hi', 'long');
  expect(promptOf(project.asked('answer').at(-1))).toContain(long.replace('{{ channel }}', 'chat'));
});

test('type decides whether the model is told of every step', async () => {
  const far = { id: 'far', type: 'conversation', data: { title: 'Far', prompt: 'The far step.' } };
  await graph([start, later, far], [onlyWhenAsked, { id: 'f', source: 'later', target: 'far' }]);
  for (const type of ['monolithic', 'skill']) {
    await agent({ type });
    await project.chat('Hi', type);
  }
  const [monolithic, skill] = project.asked('answer').map(promptOf);
  expect(monolithic).toContain('The far step.');
  expect(skill).not.toContain('The far step.');
  expect(skill).toContain('The later step.');
});

test.each([
  ['smart', 'm-smart', 'm-smart'],
  ['balance', 'm-balance', undefined],
  [null, 'm-balance', undefined],
  ['turbo', 'm-turbo', 'm-turbo'],
])('executionMode %s answers with %s, and selects the edge with %s', async (executionMode, model, router) => {
  await graph([start, later], [onlyWhenAsked]);
  await agent({ executionMode });
  await project.chat('Hi');
  await project.chat('Go on');
  expect(project.asked('answer').at(-1)?.model).toBe(model);
  expect(project.asked('route').at(-1)?.model).toBe(router);
});

test('timezone is the zone of the time that the model is told', async () => {
  await agent({ timezone: 'Asia/Taipei' });
  await project.chat('Hi');
  expect(promptOf(project.asked('answer')[0])).toContain('Asia/Taipei');
});

test('beforeStartConfig asks its url with its headers, and waits its timeoutMs', async () => {
  rig.reply = { body: { variables: { tier: 'gold' } } };
  const headers = [{ key: 'x-token', value: 'abc' }];
  await agent({ beforeStartConfig: { url: `${rig.endpoint}/start`, headers } });
  await graph([{ ...start, data: { title: 'Start', prompt: 'Greet a {{ tier }} customer.' } }]);
  await project.chat('Hi', 'first');
  expect(rig.received.at(-1)).toMatchObject({ method: 'POST', url: '/start', headers: { 'x-token': 'abc' } });
  expect(promptOf(project.asked('answer')[0])).toContain('Greet a gold customer.');

  rig.reply = { body: { variables: { tier: 'late' } }, afterMs: 1000 };
  await agent({ beforeStartConfig: { url: `${rig.endpoint}/start`, timeoutMs: 100 } });
  await project.chat('Hi', 'second');
  const { events } = await project.history('second');
  expect(events).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ code: 'before_start_failed' }) }),
  );
});

test('variableConfigs are extracted by name, with their types and values', async () => {
  const described = { description: 'as said' };
  await agent({
    variableConfigs: [
      { name: 'party', type: 'number', ...described },
      { name: 'vip', type: 'boolean', ...described },
      { name: 'day', type: 'date', ...described },
      { name: 'size', type: 'enum', values: ['small', 'large'], ...described },
      { name: 'note', type: 'string', ...described },
    ],
  });
  rig.script.extract = { party: 4, vip: true, day: '2026-11-30', size: 'huge', note: 'By the window' };
  await project.chat('Four of us');
  const { variables } = await project.history('s');
  // A value that is not in the list is none.
  expect(variables).toMatchObject({ party: 4, vip: true, day: '2026-11-30', note: 'By the window' });
  expect(variables).not.toHaveProperty('size');
  const format = JSON.stringify(project.asked('extract')[0]?.response_format);
  expect(format).toContain('as said');
  expect(format).toContain('"small","large"');
});

test('memoryEnabled tells the model what an earlier session with the same customerId was about', async () => {
  await agent({ memoryEnabled: true });
  const create = (session_id: string) =>
    project.call('POST', '/sessions', { session_id, variables: { customerId: 'ann' } });
  await create('first');
  await project.chat('I like tea', 'first');
  await project.call('DELETE', '/sessions', { session_id: 'first' });
  await expect.poll(() => project.asked('summary').length).toBeGreaterThan(0);
  let count = 0;
  await expect
    .poll(async () => {
      await create(`later-${++count}`);
      await project.chat('Hi', `later-${count}`);
      return promptOf(project.asked('answer').at(-1));
    })
    .toContain('Ann likes tea.');
});

test('postEvaluationConfig judges a session by its criteria, each with name and description', async () => {
  const criteria = [{ name: 'polite', description: 'The agent was kind.' }];
  await agent({ postEvaluationConfig: { criteria } });
  rig.script.judge = { results: [{ name: 'polite', passed: true, reason: 'It said hello.' }] };
  await project.chat('Hi');
  await project.call('DELETE', '/sessions', { session_id: 's' });
  await expect
    .poll(async () => (await project.history('s')).evaluation)
    .toEqual({ criteria: [{ name: 'polite', passed: true, reason: 'It said hello.' }] });
  expect(promptOf(project.asked('judge')[0])).toContain('polite: The agent was kind.');
});

test('A criterion of type score gets a score from 1 to 5', async () => {
  const criteria = [{ name: 'warmth', description: 'How warm the agent was.', type: 'score' }];
  const hook = { url: `${rig.endpoint}/scores`, events: ['session.finalized'] };
  await agent({ postEvaluationConfig: { criteria }, postSessionWebhook: hook });
  rig.script.judge = { scores: [{ name: 'warmth', score: 4, reason: 'It said hello.' }] };
  await project.chat('Hi');
  await project.call('DELETE', '/sessions', { session_id: 's' });
  const told = () => rig.received.find(({ url }) => url === '/scores')?.body ?? '{}';
  await expect
    .poll(() => JSON.parse(told()).evaluation)
    .toEqual({ criteria: [{ name: 'warmth', type: 'score', score: 4, reason: 'It said hello.' }] });
});

test('analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook', async () => {
  const dispositions = [{ value: 'booked', description: 'They booked.', success: true }];
  const data = { type: 'object', properties: { guests: { type: 'integer' } }, required: ['guests'] };
  const analysis = { summary: true, dispositions, data, instructions: 'Count the children too.' };
  const hook = { url: `${rig.endpoint}/analysis`, events: ['session.finalized'] };
  await agent({ analysis, postSessionWebhook: hook });
  rig.script.judge = { summary: 'Booked.', disposition: 'booked', data: { guests: 2 } };
  await project.chat('Hi');
  await project.call('DELETE', '/sessions', { session_id: 's' });
  const done = {
    status: 'done',
    summary: 'Booked.',
    disposition: 'booked',
    success: true,
    data: { guests: 2 },
    model: expect.any(String),
  };
  await expect.poll(async () => (await project.history('s')).analysis).toEqual(done);
  const told = () => rig.received.find(({ url }) => url === '/analysis')?.body ?? '{}';
  await expect.poll(() => JSON.parse(told()).analysis).toEqual(done);
  const prompt = promptOf(project.asked('analysis')[0]);
  for (const part of ['- booked: They booked.', 'guests', 'Count the children too.', 'Summarize'])
    expect(prompt).toContain(part);

  await agent({ analysis: { ...analysis, summary: false, data: undefined } });
  await project.chat('Hi', 'short');
  await project.call('DELETE', '/sessions', { session_id: 'short' });
  await expect.poll(() => project.asked('analysis').length).toBe(2);
  expect(promptOf(project.asked('analysis')[1])).not.toMatch(/Summarize|guests/);
});

test('analysis.model and endpoint are asked in place of the agent’s model', async () => {
  await agent({ analysis: { model: 'm-judge', endpoint: 'openai' } });
  rig.script.judge = { summary: 'They said hi.' };
  await project.chat('Hi');
  await project.call('DELETE', '/sessions', { session_id: 's' });
  await expect.poll(() => project.asked('analysis').map(({ model }) => model)).toEqual(['m-judge']);

  await agent({ analysis: { endpoint: 'anthropic' } });
  await project.chat('Hi', 'elsewhere');
  await project.call('DELETE', '/sessions', { session_id: 'elsewhere' });
  await expect
    .poll(async () => (await project.history('elsewhere')).analysis)
    .toMatchObject({ status: 'failed', model: expect.stringContaining('claude') });
});

test.each([
  ['no object', { type: 'string' }, 'analysis/data'],
  [
    '51 properties',
    { type: 'object', properties: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`p${n}`, {}])) },
    'analysis/data',
  ],
  [
    'a pattern with a back reference',
    { type: 'object', properties: { a: { type: 'string', pattern: '(a)\\1' } } },
    'analysis/data',
  ],
  [
    'a reference to nothing',
    { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } },
    'analysis/data',
  ],
])('analysis.data with %s is refused', async (_what, data, path) => {
  const { status, body } = await project.call('PATCH', '/agent', { analysis: { data } });
  expect([status, body.details?.[0]?.path]).toEqual([400, `/${path}`]);
});

test('postSessionWebhook gets its events at its url, with its headers', async () => {
  const postSessionWebhook = {
    url: `${rig.endpoint}/hook`,
    headers: [{ key: 'x-token', value: 'hook' }],
    events: ['session.finalized'],
  };
  await agent({ postSessionWebhook });
  await project.chat('Hi');
  await project.call('DELETE', '/sessions', { session_id: 's' });
  const hooks = () => rig.received.filter(({ url }) => url === '/hook');
  await expect.poll(() => hooks().length).toBe(1);
  expect(hooks()[0]).toMatchObject({ method: 'POST', headers: { 'x-token': 'hook' } });
  expect(JSON.parse(hooks()[0]?.body ?? '')).toMatchObject({ event: 'session.finalized', sessionId: 's' });
});

test('placeholderMessages are said in the session’s language while a tool runs, rendered', async () => {
  const { body: tool } = await project.call('POST', '/tools', {
    name: 'slow',
    http: { method: 'POST', url: `${rig.endpoint}/tool` },
  });
  await graph([{ ...start, data: { ...start.data, tools: [tool.id] } }]);
  await agent({ placeholderMessages: { en: ['Wait.'], de: ['Moment, {{ name }}.'] } });
  await project.call('POST', '/sessions', {
    session_id: 's',
    variables: { language: 'de-AT', name: 'Ann' },
  });
  rig.reply = { body: {}, afterMs: 1600 };
  rig.script.tool = { name: 'slow', arguments: {} };
  expect(await project.chat('Hi')).toBe('Moment, Ann.\nHello.');
});
