import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Amounts } from '../../../src/agents/cost/usage.ts';
import type { EngineConfig } from '../../../src/agents/speech/engineConfig.ts';
import type { ProviderCredentials } from '../../../src/agents/speech/providerCredentials.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { createDnsLookup } from '../../../src/http/lookup.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { SpeechToSpeechEvent } from '../../../src/models/ports/speechToSpeech.ts';
import type { Credentials } from '../../../src/models/providerOptions.ts';
import { SelectedSpeechEngines } from '../../../src/models/selection/speechEngines.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';

/** Notes the requests, and the first message of each connection. Answers cost 42 tokens. */
async function startServer() {
  const seen: string[] = [];
  const server = createServer();
  new WebSocketServer({ server }).on('connection', (socket, { url, headers }) => {
    seen.push(`${url} ${headers.authorization ?? 'no key'}`);
    socket.once('message', (data) => seen.push(String(data)));
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data));
      const usage = { input_tokens: 30, output_tokens: 12, total_tokens: 42 };
      if (type === 'session.update') socket.send(JSON.stringify({ type: 'session.updated', session: {} }));
      if (type !== 'response.create') return;
      for (const event of ['response.created', 'response.done'])
        socket.send(JSON.stringify({ type: event, response: { id: 'r', usage } }));
    });
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return { seen, baseUrl: `http://127.0.0.1:${port}` };
}

/** What calls have used. */
const told: Amounts[] = [];

function engines(
  credentials: Credentials,
  own: readonly ProviderCredentials[] = [],
  allowInsecureLoopback = true,
  counted: string[] = [],
  used: string[] = [],
) {
  const selected = new SelectedSpeechEngines({
    onModelUsed: (model) => used.push(model),
    usage: { add: (projectId, usage) => void counted.push(`${projectId} ${usage.installationTokens}`) },
    credentials: () => credentials,
    projectCredentials: async () => own,
    guard: { policy: { allowInsecureLoopback }, lookup: createDnsLookup() },
    options: (given) => ({
      credentials: given,
      clock: systemClock,
      timeoutMs: 1000,
      searchPath: '',
      warn: () => undefined,
    }),
    metrics: (model, provider, owner) => ({
      recordError: ({ code }) => void counted.push(`${model} ${provider} ${owner} ${code}`),
      recordFirstOutput: (waitedMs) => void counted.push(`${model} ${provider} ${owner} ${waitedMs} ms`),
      recordOutput: () => undefined,
    }),
    clock: systemClock,
    onError: () => undefined,
  });
  onTestFinished(() => selected.close());
  return selected.open('project-1', (used) => void told.push(used));
}

async function connect(open: ReturnType<typeof engines>, config: EngineConfig) {
  const { model: engine } = await open.find(config);
  const events: SpeechToSpeechEvent[] = [];
  const connection = engine.connect({ sampleRateHz: 8000 }, (event) => events.push(event));
  onTestFinished(() => connection.close());
  connection.answer({
    instructions: 'Talk.',
    step: 's',
    tools: [],
    withheldTools: [],
    messages: [],
    news: [],
  });
  return events;
}

const stored = (name: ProviderCredentials['name'], apiKey: string, baseUrl: string | null) => [
  { name, apiKey, baseUrl, updatedAt: '2026-01-01T00:00:00.000Z' },
];

test.each([
  ['openai-realtime', '/v1/realtime?model=model-of-mine Bearer key'],
  ['custom', '/v1/realtime?model=model-of-mine Bearer key'],
  [
    'gemini-live',
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=key no key',
  ],
] as const)('%s is asked at its address, with its key, model and voice', async (provider, request) => {
  const { seen, baseUrl } = await startServer();
  const open = engines({ apiKey: 'key', baseUrl });
  await connect(open, { provider, model: 'model-of-mine', voice: 'voice-of-mine' });
  await vi.waitFor(() => expect(seen).toHaveLength(2));
  expect(seen[0]).toBe(request);
  expect(seen.join()).toContain('model-of-mine');
  expect(seen[1]).toContain('voice-of-mine');
});

test('The project’s key goes before the installation’s, and its address is guarded', async () => {
  const { seen, baseUrl } = await startServer();
  const own = stored('openai', 'own-key', baseUrl);
  await connect(engines({ apiKey: 'key' }, own), { provider: 'openai-realtime' });
  await vi.waitFor(() => expect(seen[0]).toBe('/v1/realtime?model=gpt-realtime-2.1 Bearer own-key'));
  const events = await connect(engines({ apiKey: 'key' }, own, false), { provider: 'openai-realtime' });
  await vi.waitFor(() => expect(events).toMatchObject([{ type: 'failed' }]));
  expect(seen.filter((one) => one.startsWith('/'))).toHaveLength(1);
});

test('An engine without credentials, or that has failed just now, is not tried', async () => {
  for (const provider of ['openai-realtime', 'gemini-live', 'custom'] as const)
    await expect(engines({}).find({ provider })).rejects.toThrow('has no credentials');
  const open = engines({ apiKey: 'key', baseUrl: 'http://127.0.0.1:9' });
  const { breaker = '' } = await open.find({ provider: 'custom' });
  open.breakers.failed(breaker);
  await expect(open.find({ provider: 'custom' })).rejects.toThrow('failed moments ago');
});

test('Answers and failures are counted by the engine and the owner of its key', async () => {
  const counted: string[] = [];
  const failure = new ModelError('model_unavailable', 'down');
  for (const own of [[], stored('google', 'own-key', null)]) {
    const open = engines({ apiKey: 'key' }, own, true, counted);
    const { metrics } = await open.find({ provider: 'gemini-live' });
    metrics?.recordFirstOutput(320);
    metrics?.recordError(failure);
    open.close();
  }
  expect(counted).toEqual([
    'speech_to_speech gemini-live installation 320 ms',
    'speech_to_speech gemini-live installation model_unavailable',
    'speech_to_speech gemini-live project 320 ms',
    'speech_to_speech gemini-live project model_unavailable',
  ]);
});

test('A model that is named is reported, the vendor’s own is not', async () => {
  const used: string[] = [];
  const open = engines({ apiKey: 'key' }, [], true, [], used);
  await open.find({ provider: 'gemini-live' });
  await open.find({ provider: 'openai-realtime', model: 'gpt-realtime' });
  expect(used).toEqual(['gpt-realtime']);
});

test.each([
  ['the installation’s', [], ['project-1 42']],
  ['the project’s', stored('custom_s2s', 'own-key', null), []],
] as const)('An answer on %s key counts its tokens for the project: %j %j', async (_, own, expected) => {
  const { baseUrl } = await startServer();
  const counted: string[] = [];
  const events = await connect(engines({ apiKey: 'key', baseUrl }, own, true, counted), {
    provider: 'custom',
  });
  await vi.waitFor(() => expect(events.at(-1)?.type).toBe('done'));
  expect(counted).toEqual(expected);
  // The call has used it, whoever pays.
  expect(Object.values(told.at(-1) ?? {}).reduce((sum, tokens) => sum + tokens, 0)).toBe(42);
});
