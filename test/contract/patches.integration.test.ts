import { expect, test } from 'vitest';
import { contractRig } from './support.ts';

const rig = contractRig();
const HTTP = {
  method: 'POST',
  url: 'https://example.com/book',
  headers: [{ key: 'x-key', value: 'secret' }],
  timeoutMs: 4000,
};
const NODES = [
  { id: 'start', type: 'start', data: { title: 'Start', prompt: 'Talk.' } },
  { id: 'next', type: 'conversation', data: { title: 'Next', prompt: 'Ask.', silence: { afterMs: 4000 } } },
];

/** What can be changed by PATCH: its path, and a body that sets fields to other values than the defaults. */
const RESOURCES: [string, object][] = [
  [
    'tools',
    {
      name: 'book',
      description: 'Books.',
      parameters: { type: 'object', properties: { day: { type: 'string' } } },
      http: HTTP,
      resultMapping: [{ path: 'id', variable: 'bookingId' }],
      speakWhile: { en: 'One moment.' },
    },
  ],
  [
    'trunks',
    {
      name: 'Carrier',
      host: '127.0.0.1',
      port: 5072,
      status: 'inactive',
      username: 'ada',
      password: 'secret',
      codecs: ['PCMA'],
      dtmf: 'info',
      maxChannels: 3,
      callsPerSecond: 2,
      priority: 4,
      headers: { 'X-Tenant': 'a' },
      inboundCidrs: ['127.0.0.1/32'],
      followRedirects: true,
    },
  ],
  [
    'phone-numbers',
    {
      number: '+886223456789',
      outboundStatus: 'inactive',
      inboundEnabled: true,
      record: false,
      noiseSuppression: true,
      media: { url: 'wss://bot.example.com/', dialect: 'twilio' },
      startNodeId: 'next',
      variables: { desk: 'front' },
    },
  ],
  [
    'test-cases',
    {
      name: 'Books',
      description: 'A booking.',
      channel: 'chat',
      variables: { name: 'Ada' },
      turns: [{ say: 'Hello' }],
      toolMocks: [{ name: 'book', result: { ok: true }, delayMs: 10 }],
      assertions: [{ type: 'contains', value: 'Hello' }],
    },
  ],
  [
    'campaigns',
    {
      name: 'Renewals',
      description: 'In December.',
      fromNumbers: ['+886223456789', '+886223456790'],
      callerId: 'rotate',
      schedule: {
        startAt: '2030-01-01T00:00:00.000Z',
        timezone: 'Asia/Taipei',
        windows: [{ days: ['mon'], from: '09:00', to: '17:00' }],
      },
      pacing: { callsPerMinute: 7 },
      retry: { maxAttempts: 2, rules: [{ outcomes: ['busy'], afterMinutes: 5 }] },
      variables: { shop: 'North' },
      metadata: { team: 'a' },
      pauseWhen: { failedPercent: 20 },
      keepOpen: true,
    },
  ],
  [
    'pathway/nodes',
    { type: 'conversation', data: { title: 'Ask', prompt: 'Ask.', silence: { afterMs: 4000 } } },
  ],
  ['pathway/edges', { source: 'start', target: 'next', data: { label: 'Next', condition: 'They agree.' } }],
];

test.each(RESOURCES)('A PATCH of %s changes no field that it leaves out', async (path, body) => {
  const project = await rig.project();
  await project.call('PUT', '/pathway', { nodes: NODES, edges: [] });
  const created = await project.call('POST', `/${path}`, body);
  expect([created.body, created.status]).toEqual([expect.anything(), 201]);
  const resource = `/${path}/${created.body.id}`;
  const { updatedAt: _, ...before } = (await project.call('GET', resource)).body;
  expect(before).toMatchObject(shown(body));
  for (const change of [{}, ...changesOf(body)]) {
    const patched = await project.call('PATCH', resource, change);
    expect([change, patched.status]).toEqual([change, 200]);
    const { updatedAt: __, ...after } = (await project.call('GET', resource)).body;
    expect(after).toEqual(before);
  }
});

/** One field at a time; a node keeps its type. */
function changesOf(body: object): object[] {
  return Object.entries(body).flatMap(([name, value]) => (name === 'type' ? [] : [{ [name]: value }]));
}

/** The trunk's password is never shown. */
function shown(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'password'));
}
