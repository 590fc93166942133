import { beforeEach, expect, test } from 'vitest';
import { type ContractProject, contractRig } from './support.ts';

const rig = contractRig();
let project: ContractProject;
beforeEach(async () => {
  Object.assign(rig.script, { say: 'Hello.', tool: undefined });
  rig.reply = { body: {} };
  rig.received.length = 0;
  project = await rig.project();
});

const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
};

/** Offers a tool to the model, which calls it with these arguments. @returns The results in the history. */
async function run(tool: object, args: object = { city: 'Bad Ems', days: 2 }) {
  const created = await project.call('POST', '/tools', {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: PARAMETERS,
    ...tool,
  });
  expect(created.status).toBe(201);
  const data = { title: 'Start', prompt: 'Talk.', tools: [created.body.id] };
  await project.call('PUT', '/pathway', { nodes: [{ id: 'start', type: 'start', data }], edges: [] });
  rig.script.tool = { name: 'weather', arguments: args };
  await project.chat('Hi');
  const { events } = await project.history('s');
  return events.filter(({ type }: { type: string }) => type === 'tool_result');
}

test('A tool is offered by its name, description and parameters', async () => {
  await run({ http: { method: 'POST', url: `${rig.endpoint}/weather` } });
  expect(project.asked('answer')[0]?.tools).toContainEqual({
    type: 'function',
    function: expect.objectContaining({
      name: 'weather',
      description: 'Tells the weather.',
      parameters: PARAMETERS,
    }),
  });
});

test('A tool refuses arguments that do not fit its parameters', async () => {
  const results = await run({ http: { method: 'POST', url: `${rig.endpoint}/weather` } }, { days: 'two' });
  expect(results[0]?.data).toMatchObject({ ok: false, result: expect.stringContaining('city') });
  expect(rig.received).toEqual([]);
});

test.each(['POST', 'PUT', 'PATCH'])('A tool sends its arguments by its method %s', async (method) => {
  await run({ http: { method, url: `${rig.endpoint}/weather` } });
  expect(rig.received[0]).toMatchObject({ method, url: '/weather', body: '{"city":"Bad Ems","days":2}' });
});

test.each(['GET', 'DELETE'])('A tool sends its arguments in the query by its method %s', async (method) => {
  await run({ http: { method, url: `${rig.endpoint}/weather` } });
  expect(rig.received[0]).toMatchObject({ method, url: '/weather?city=Bad+Ems&days=2', body: '' });
});

test('A tool has templates in its url and bodyTemplate, and its own headers with their key and value', async () => {
  const http = {
    method: 'POST',
    url: `${rig.endpoint}/weather/{{ city }}?days={{ days }}`,
    headers: [{ key: 'x-token', value: 'abc' }],
    bodyTemplate: '{"place":"{{ city }}","on":"{{ channel }}"}',
  };
  await run({ http });
  expect(rig.received[0]).toMatchObject({
    url: '/weather/Bad%20Ems?days=2',
    headers: { 'x-token': 'abc' },
    body: '{"place":"Bad Ems","on":"chat"}',
  });
});

test('A tool can be tried with arguments and variables, and shows its request without secrets', async () => {
  const http = {
    method: 'POST',
    url: `${rig.endpoint}/weather/{{ city }}?days={{ days }}`,
    headers: [{ key: 'x-token', value: 'abc' }],
    bodyTemplate: '{"place":"{{ city }}","for":"{{ name }}"}',
  };
  const tool = { name: 'weather', description: 'Tells the weather.', parameters: PARAMETERS, http };
  const { body: created } = await project.call('POST', '/tools', tool);
  const trial = (args: object) =>
    project.call('POST', `/tools/${created.id}/try`, { arguments: args, variables: { name: 'Ana' } });
  rig.reply = { body: { sun: true } };
  const tried = await trial({ city: 'Ems', days: 2 });
  expect(tried.body).toEqual({
    ok: true,
    request: {
      method: 'POST',
      url: `${rig.endpoint}/weather/Ems?days=2`,
      headers: [
        { key: 'x-token', value: '[redacted]' },
        { key: 'content-type', value: 'application/json' },
      ],
      body: '{"place":"Ems","for":"Ana"}',
    },
    status: 200,
    result: '{"sun":true}',
    durationMs: expect.any(Number),
  });
  expect(rig.received[0]).toMatchObject({ headers: { 'x-token': 'abc' } });
  const refused = await trial({ days: 'two' });
  expect(refused.body).toMatchObject({ ok: false, request: null, result: expect.stringContaining('city') });
  expect((await project.call('POST', '/tools/none/try', {})).status).toBe(404);
});

test.each([
  ['of a tool node', 'tool'],
  ['that the model calls', 'conversation'],
])('A tool %s that times out takes the edge for its failure', async (_, type) => {
  rig.reply = { body: {}, afterMs: 1500 };
  const http = { method: 'GET', url: `${rig.endpoint}/slots`, timeoutMs: 100 };
  const { body: tool } = await project.call('POST', '/tools', { name: 'slots', http });
  const says = (id: string) => ({ id, type: 'say', data: { title: id, prompt: `${id}.` } });
  const onResult = (ok: boolean, target: string) => ({
    id: target,
    source: 'look',
    target,
    data: { condition: { event: 'tool_result', ok } },
  });
  const saved = await project.call('PUT', '/pathway', {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Start' } },
      { id: 'look', type, data: { title: 'Look', prompt: 'Look for a slot.', tools: [tool.id] } },
      says('Found'),
      says('Sorry'),
    ],
    edges: [
      { id: 'begin', source: 'start', target: 'look' },
      onResult(true, 'Found'),
      onResult(false, 'Sorry'),
    ],
  });
  expect([saved.status, saved.body.error]).toEqual([200, undefined]);
  rig.script.tool = { name: 'slots', arguments: {} };
  expect(await project.chat('Is there a slot?')).toBe('Sorry.');
  const { events } = await project.history('s');
  const results = events.filter((event: { type: string }) => event.type === 'tool_result');
  expect(results).toMatchObject([{ data: { ok: false, result: expect.stringContaining('100 ms') } }]);
});
