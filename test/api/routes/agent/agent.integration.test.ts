import { beforeEach, describe, expect, test } from 'vitest';

import { sharedGateway, startTestGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
beforeEach(async () => {
  project = await gateway().createProject('Reception');
});

const call = (method: string, body?: unknown) =>
  gateway().api(method, `${project.path}/agent`, {
    key: project.developerKey,
    ...(body === undefined ? {} : { body }),
  });

const DISCLOSURE = {
  id: 'who',
  text: 'I am {{ name }}.',
  withinSeconds: 9,
  direction: 'both',
  machines: false,
};
const FULL = {
  name: 'Amy',
  type: 'skill',
  status: 'published',
  globalPrompt: 'Be brief. 請說中文。',
  executionMode: 'turbo',
  timezone: 'Asia/Taipei',
  memoryEnabled: true,
  beforeStartConfig: {
    url: 'https://example.com/start',
    headers: [{ key: 'x-token', value: 'é' }],
    timeoutMs: 3000,
  },
  postSessionWebhook: {
    url: 'https://example.com/hook',
    headers: [{ key: 'Authorization', value: 'Bearer words' }],
    events: ['session.ended', 'call.ended', 'recording.ready', 'session.finalized'],
  },
  eventWebhook: {
    url: 'https://example.com/events',
    headers: [{ key: 'Authorization', value: 'Bearer words' }],
    events: ['call.ended', 'turn.user'],
  },
  postEvaluationConfig: { criteria: [{ name: 'polite', description: 'Was the agent polite?' }] },
  placeholderMessages: { en: ['One moment…'], 'zh-TW': ['請稍候'] },
  transferTargets: ['+886223456789', 'sip:desk@pbx.example'],
  shareCallerNumber: false,
  notUnderstood: { transferTo: '+886212345678' },
  optOut: { detect: false, confirm: 'Goodbye, {{ name }}.' },
  analysis: {
    summary: true,
    dispositions: [{ value: 'booked', description: 'They booked a table.', success: true }],
  },
  disclosures: [DISCLOSURE, { ...DISCLOSURE, id: 'who-else', direction: 'inbound' }],
  recording: { inbound: false, outbound: true },
  sessionIdleMinutes: 45,
  speech: {
    recognition: {
      provider: 'openai',
      model: 'm',
      language: 'zh-TW',
      keyterms: ['Callway'],
      options: { batch: true },
    },
    synthesis: { provider: 'openai', voice: 'alloy' },
    fallback: { recognition: [{ provider: 'local' }], synthesis: [{ provider: 'local' }] },
  },
  turnDetection: { mode: 'silence', eagerness: 'low', preemptive: false },
  chat: { model: 'gpt-4.1', temperature: 0.3, fallback: ['gpt-4.1-mini', { endpoint: 'anthropic' }] },
  engine: { provider: 'openai-realtime', voice: 'marin' },
  variableConfigs: [
    { name: 'city', type: 'string', description: 'Where', required: true },
    { name: 'size', type: 'enum', description: 'How big', values: ['small', 'large'] },
  ],
};

describe('The agent', () => {
  test('of a new project is a draft without settings', async () => {
    expect((await call('GET')).body).toEqual({
      name: 'Reception',
      type: 'monolithic',
      status: 'draft',
      globalPrompt: null,
      executionMode: null,
      timezone: null,
      memoryEnabled: false,
      beforeStartConfig: null,
      postSessionWebhook: null,
      eventWebhook: null,
      postEvaluationConfig: null,
      placeholderMessages: null,
      transferTargets: null,
      variableConfigs: null,
      shareCallerNumber: true,
      notUnderstood: null,
      optOut: null,
      disclosures: null,
      analysis: null,
      recording: { inbound: true, outbound: true },
      sessionIdleMinutes: null,
      speech: null,
      turnDetection: null,
      chat: null,
      engine: null,
    });
  });

  test.each(['PUT', 'PATCH'])('stores every field by %s', async (method) => {
    const answer = await call(method, FULL);

    expect(answer).toMatchObject({ status: 200, body: FULL });
    expect((await call('GET')).body).toEqual(FULL);
  });

  test.each(['PUT', 'PATCH'])('keeps all other fields when %s has one field', async (method) => {
    await call('PUT', FULL);

    for (const [field, value] of [
      ['name', 'Ben'],
      ['executionMode', null],
      ['postSessionWebhook', null],
      ['variableConfigs', []],
    ] as const) {
      const before = (await call('GET')).body;
      expect((await call(method, { [field]: value })).body).toEqual({ ...before, [field]: value });
    }
    expect((await call(method, {})).status).toBe(200);
  });

  test.each([
    ['name', '', '/name'],
    ['name', 'x'.repeat(129), '/name'],
    ['name', null, '/name'],
    ['type', 'polylithic', '/type'],
    ['status', 'live', '/status'],
    ['executionMode', 'fast', '/executionMode'],
    ['timezone', 'Mars/Olympus', '/timezone'],
    ['timezone', '+08:00', '/timezone'],
    ['timezone', '', '/timezone'],
    ['memoryEnabled', 'true', '/memoryEnabled'],
    ['placeholderMessages', { english: ['Wait'] }, '/placeholderMessages/english'],
    ['placeholderMessages', { en: 'Wait' }, '/placeholderMessages/en'],
    ['transferTargets', ['the desk'], '/transferTargets/0'],
    ['postSessionWebhook', {}, '/postSessionWebhook/url'],
    [
      'postSessionWebhook',
      { url: 'https://example.com', events: ['session.begun'] },
      '/postSessionWebhook/events/0',
    ],
    ['postSessionWebhook', { url: 'https://example.com', retries: 1 }, '/postSessionWebhook/retries'],
    ['postEvaluationConfig', { criteria: [] }, '/postEvaluationConfig/criteria'],
    [
      'postEvaluationConfig',
      {
        criteria: [
          { name: 'kind', description: 'a' },
          { name: 'kind', description: 'b', type: 'score' },
        ],
      },
      '/postEvaluationConfig/criteria',
    ],
    ['analysis', { data: { type: 'object', properties: { day: {} }, required: ['date'] } }, '/analysis/data'],
    [
      'analysis',
      {
        data: {
          type: 'object',
          properties: {
            guests: { type: 'array', items: { type: 'object', properties: {}, required: ['name'] } },
          },
        },
      },
      '/analysis/data',
    ],
    ['beforeStartConfig', { url: 'https://example.com', timeoutMs: 15_001 }, '/beforeStartConfig/timeoutMs'],
    ['disclosures', [{ id: 'who', text: 'Me.', direction: 'both' }], '/disclosures/0/withinSeconds'],
    ['disclosures', [DISCLOSURE, DISCLOSURE], '/disclosures'],
    ['disclosures', [{ ...DISCLOSURE, text: ' ' }], '/disclosures/0/text'],
    ['sessionIdleMinutes', 0, '/sessionIdleMinutes'],
    ['variableConfigs', [{ name: '1st', type: 'string', description: '' }], '/variableConfigs/0/name'],
    ['variableConfigs', [{ name: 'a', type: 'enum', description: '' }], '/variableConfigs/0/values'],
    [
      'variableConfigs',
      [
        { name: 'a', type: 'date', description: '' },
        { name: 'a', type: 'date', description: '' },
      ],
      '/variableConfigs',
    ],
    ['variableConfigs', [{ name: 'call', type: 'string', description: '' }], '/variableConfigs'],
    ['colour', 'red', '/colour'],
    ['id', 'x', '/id'],
  ])('refuses %s %j', async (field, value, path) => {
    const before = (await call('GET')).body;

    const answer = await call('PATCH', { globalPrompt: 'never kept', [field]: value });

    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect((await call('GET')).body).toEqual(before);
  });
});

describe('Target addresses', () => {
  const FIELDS = ['postSessionWebhook', 'beforeStartConfig'] as const;

  test.each(['http://example.com/', 'https://10.1.2.3/', 'https://example.com/{{ name }}'])(
    'cannot be %s',
    async (url) => {
      for (const field of FIELDS) {
        const answer = await call('PATCH', { [field]: { url } });
        expect(answer).toMatchObject({ status: 400, body: { details: [{ path: `/${field}/url` }] } });
      }
    },
  );

  test('can be http loopback addresses with ALLOW_INSECURE_WEBHOOKS, but no other private ones', async () => {
    const lax = await startTestGateway({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } });
    try {
      const { path, developerKey: key } = await lax.createProject();
      const patch = async (url: string) => {
        const body = { postSessionWebhook: { url }, beforeStartConfig: { url } };
        return (await lax.api('PATCH', `${path}/agent`, { key, body })).status;
      };

      for (const url of [
        'http://127.0.0.1:8080/',
        'http://localhost/',
        'http://[::1]:1/',
        'https://a.example/',
      ])
        expect([url, await patch(url)]).toEqual([url, 200]);
      for (const url of ['http://10.0.0.1/', 'https://10.0.0.1/', 'http://example.com/', 'http://0.0.0.0/'])
        expect([url, await patch(url)]).toEqual([url, 400]);
    } finally {
      await lax.stop();
    }
  });
});

test.each([
  ['/globalPrompt', { globalPrompt: 'Speak for {{ company }. Be {% if vip %}brief.' }],
  ['/placeholderMessages/en/1', { placeholderMessages: { en: ['One moment.', 'Wait, {{ name'] } }],
  ['/optOut/confirm', { optOut: { confirm: 'Goodbye, {{ name' } }],
  [
    '/disclosures/0/text',
    { disclosures: [{ id: 'who', text: 'I am {{ who', withinSeconds: 9, direction: 'both' }] },
  ],
])('A malformed template is refused with its place %s', async (path, body) => {
  const answer = await call('PATCH', body);
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'template_error', details: [{ path, message: expect.stringContaining('not closed') }] },
  });
});

describe('The preview of a template', () => {
  const preview = (body: unknown, key: string | null = project.developerKey) =>
    gateway().api('POST', `${project.path}/templates/preview`, { key, body });

  test('is rendered with its variables, and names those that are missing', async () => {
    await call('PATCH', { timezone: 'Asia/Taipei' });
    const template = '{{ name }}, {{ customer.city }}: {{ at | date: "%H:%M" }}';
    const variables = { name: '<b>Amy</b>', at: '2026-01-01T20:00:00Z' };
    expect(await preview({ template, variables })).toMatchObject({
      status: 200,
      body: {
        text: '<b>Amy</b>, : 04:00',
        variables: ['name', 'customer.city', 'at'],
        missing: ['customer'],
      },
    });
  });

  test.each([
    ['that is malformed', 'Hello\n{{ name | shout }}', 'line:2'],
    ['that never ends', '{% for a in (1..1000) %}{% for b in (1..1000) %}x{% endfor %}{% endfor %}', 'steps'],
    ['that reads a file', '{% include "/etc/passwd" %}', 'include'],
  ])('is refused for one %s, with the place', async (_what, template, text) => {
    expect(await preview({ template })).toMatchObject({
      status: 400,
      body: {
        code: 'template_error',
        details: [{ path: '/template', message: expect.stringContaining(text) }],
      },
    });
  });
});
