import { beforeEach, expect, test } from 'vitest';
import { chatAmounts, modelUsages, toSessionUsage } from '../../src/agents/cost/usage.ts';
import { type ContractProject, contractRig } from './support.ts';

const rig = contractRig();
let project: ContractProject;
beforeEach(async () => {
  rig.reply = { body: {} };
  project = await rig.project();
});

/** What is known of a model whose endpoint tells no tokens. */
const UNTOLD = chatAmounts('scripted-1', {});
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const MILLISECONDS = expect.any(Number);

test('session.finalized tells the session, its variables and each message with its node and tool calls', async () => {
  const postSessionWebhook = { url: `${rig.endpoint}/hook`, events: ['session.finalized'] };
  await project.call('PATCH', '/agent', { postSessionWebhook });
  await project.call('POST', '/sessions', { session_id: 's', variables: { tier: 'gold' } });
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
  const complete = async (messages: object[]) => {
    const { body } = await rig.gateway().api('POST', `${project.path}/chat/completions`, {
      key: project.secretKey,
      headers: { 'x-session-id': 's' },
      body: { messages, tools },
    });
    return body.choices[0].message;
  };
  rig.script.tool = { name: 'look_up', arguments: { id: 7 } };
  const asked = { role: 'user', content: 'Look it up' };
  const called = await complete([asked]);
  const [{ id }] = called.tool_calls;
  await complete([asked, called, { role: 'tool', content: 'found', tool_call_id: id, name: 'look_up' }]);
  await project.call('DELETE', '/sessions', { session_id: 's' });

  const hooks = () => rig.received.filter(({ url }) => url === '/hook');
  await expect.poll(() => hooks().length).toBe(1);
  const [hook] = hooks();
  expect(JSON.parse(hook?.body ?? '')).toEqual({
    event: 'session.finalized',
    sessionId: 's',
    projectId: project.id,
    release: 'draft',
    channel: 'chat',
    occurredAt: TIME,
    deliveryId: hook?.headers['webhook-id'],
    status: 'ended',
    endReason: 'api_end',
    startedAt: TIME,
    endedAt: TIME,
    durationMs: MILLISECONDS,
    missingVariables: [],
    usage: toSessionUsage(UNTOLD),
    cost: null,
    variables: expect.objectContaining({ tier: 'gold' }),
    messages: [
      { role: 'user', content: 'Look it up', at: TIME },
      {
        role: 'assistant',
        content: null,
        at: TIME,
        nodeId: 'start',
        tool_calls: [{ id, type: 'function', function: { name: 'look_up', arguments: '{"id":7}' } }],
        usage: modelUsages(UNTOLD),
      },
      { role: 'tool', content: 'found', at: TIME, tool_call_id: id, name: 'look_up' },
      {
        ...{ role: 'assistant', content: 'Hello.', at: TIME, nodeId: 'start', latencyMs: MILLISECONDS },
        latencyDetails: { modelMs: MILLISECONDS },
        usage: modelUsages(UNTOLD),
      },
    ],
  });
});

test('session.finalized names required variables that are missing as missingVariables', async () => {
  const postSessionWebhook = { url: `${rig.endpoint}/missing`, events: ['session.finalized'] };
  const required = (name: string) => ({ name, type: 'string', description: name, required: true });
  const variableConfigs = [required('orderNumber'), required('surname')];
  await project.call('PATCH', '/agent', { postSessionWebhook, variableConfigs });
  rig.script.tool = undefined;
  rig.script.extract = { orderNumber: null, surname: 'Chen' };
  await project.chat('My parcel is late. Chen.');
  await project.call('DELETE', '/sessions', { session_id: 's' });
  const hooks = () => rig.received.filter(({ url }) => url === '/missing');
  await expect.poll(() => hooks().length).toBe(1);
  expect(JSON.parse(hooks()[0]?.body ?? '')).toMatchObject({
    variables: { surname: 'Chen' },
    missingVariables: ['orderNumber'],
  });
  expect((await project.history('s')).missingVariables).toEqual(['orderNumber']);
});
