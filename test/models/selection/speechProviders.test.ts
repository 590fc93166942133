import { createServer, type IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Amounts } from '../../../src/agents/cost/usage.ts';
import type { ProviderCredentials } from '../../../src/agents/speech/providerCredentials.ts';
import type { SpeechConfig } from '../../../src/agents/speech/speechConfig.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { createDnsLookup } from '../../../src/http/lookup.ts';
import { isStreaming, type Recognizer } from '../../../src/models/ports/recognizer.ts';
import type { RecognitionEvent } from '../../../src/models/ports/streamingSpeechToText.ts';
import type { ProviderFallback } from '../../../src/models/selection/callProviders.ts';
import {
  SelectedSpeechProviders,
  type SpeechDefaults,
} from '../../../src/models/selection/speechProviders.ts';
import { forWholeTexts } from '../../../src/models/synthesis/wholeTexts.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';

/** A server of `stt.callway.v1` that takes one key. */
async function startServer(key: string) {
  const server = createServer();
  const keys: (string | undefined)[] = [];
  const sockets = new WebSocketServer({
    server,
    handleProtocols: ([first]) => first ?? false,
    verifyClient({ req }: { req: IncomingMessage }) {
      keys.push(req.headers.authorization);
      return req.headers.authorization === `Bearer ${key}`;
    },
  });
  sockets.on('connection', (socket) => {
    socket.once('message', () => socket.send(JSON.stringify({ type: 'final', text: 'a table' })));
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return { baseUrl: `http://127.0.0.1:${port}`, keys };
}

const DEFAULTS: SpeechDefaults = { recognition: { provider: 'local' }, synthesis: { provider: 'local' } };

function providersOf(options: {
  readonly defaults?: SpeechDefaults;
  readonly installation?: { readonly baseUrl: string; readonly apiKey: string };
  readonly project?: { baseUrl: string | null; apiKey: string };
  readonly allowsLoopback?: boolean;
}) {
  const { installation = {}, allowsLoopback = true } = options;
  const fallbacks: ProviderFallback[] = [];
  const recorded: string[] = [];
  const used: string[] = [];
  const counted: unknown[] = [];
  const told: Amounts[] = [];
  const stored: ProviderCredentials[] = [];
  const put = (credentials: { baseUrl: string | null; apiKey: string }) => {
    stored.splice(0, 1, { name: 'custom_stt', updatedAt: '2026-01-01T00:00:00.000Z', ...credentials });
  };
  if (options.project) put(options.project);
  const providers = new SelectedSpeechProviders({
    onModelUsed: (model) => used.push(model),
    usage: { add: (projectId, usage) => void counted.push([projectId, usage]) },
    defaults: options.defaults ?? DEFAULTS,
    credentials: (name) => (name === 'custom_stt' ? installation : {}),
    projectCredentials: async () => [...stored],
    guard: { policy: { allowInsecureLoopback: allowsLoopback }, lookup: createDnsLookup() },
    options: (credentials) => ({
      credentials,
      clock: systemClock,
      timeoutMs: 1000,
      searchPath: '',
      warn: () => undefined,
    }),
    metrics: (kind, provider, owner) => ({
      recordError: ({ message }) => void recorded.push(`${kind} ${provider} ${owner}: ${message}`),
      recordFirstOutput: () => undefined,
      recordOutput: () => void recorded.push(`${kind} ${provider} ${owner}: words`),
    }),
    clock: systemClock,
    onError: () => undefined,
  });
  onTestFinished(() => providers.close());
  const open = () => {
    const onFallback = (fallback: ProviderFallback) => void fallbacks.push(fallback);
    const call = providers.open('project-1', onFallback, (amounts) => void told.push(amounts));
    onTestFinished(() => call.close());
    return call;
  };
  return { providers, open, fallbacks, put, recorded, used, counted, told };
}

/** The first final transcript, or the failure. */
function hear(recognizer: Recognizer | undefined): Promise<string> {
  if (!recognizer || !isStreaming(recognizer)) throw new Error('not a streaming recognizer');
  return new Promise((resolve) => {
    const onEvent = (event: RecognitionEvent) => {
      if (event.type === 'final') resolve(event.transcript.text);
      if (event.type === 'failed') resolve(event.error.message);
    };
    const connection = recognizer.connect({ sampleRateHz: 16_000 }, onEvent);
    onTestFinished(() => connection.close());
  });
}

const CUSTOM = { recognition: { provider: 'custom' } } as const;

test('A project’s credentials go before the installation’s, and a new key holds for the next call', async () => {
  const own = await startServer('new');
  const installation = await startServer('theirs');
  const { open, put, recorded } = providersOf({
    installation: { baseUrl: installation.baseUrl, apiKey: 'theirs' },
    project: { baseUrl: own.baseUrl, apiKey: 'old' },
  });
  const [refused] = await open().recognizers(CUSTOM);
  expect(await hear(refused)).toMatch(/refuses the key/);
  put({ baseUrl: own.baseUrl, apiKey: 'new' });
  const [accepted] = await open().recognizers(CUSTOM);
  expect(await hear(accepted)).toBe('a table');
  expect([own.keys, installation.keys]).toEqual([['Bearer old', 'Bearer new'], []]);
  expect(recorded).toEqual([
    expect.stringMatching(/^transcription custom project: .* refuses the key$/),
    'transcription custom project: words',
  ]);
});

test('A project without an address has its key at the installation’s', async () => {
  const { baseUrl, keys } = await startServer('own');
  const { open } = providersOf({
    installation: { baseUrl, apiKey: 'theirs' },
    project: { baseUrl: null, apiKey: 'own' },
  });
  expect(await hear((await open().recognizers(CUSTOM))[0])).toBe('a table');
  expect(keys).toEqual(['Bearer own']);
});

test('A project’s address is guarded, and the installation’s is not', async () => {
  const { baseUrl, keys } = await startServer('k');
  const credentials = { baseUrl, apiKey: 'k' };
  const guarded = providersOf({ project: credentials, allowsLoopback: false });
  expect(await hear((await guarded.open().recognizers(CUSTOM))[0])).toMatch(/cannot be reached/);
  expect(keys).toEqual([]);
  const trusted = providersOf({ installation: credentials, allowsLoopback: false });
  expect(await hear((await trusted.open().recognizers(CUSTOM))[0])).toBe('a table');
});

test('Vendors that stream form one chain, and those behind it take an utterance at a time', async () => {
  const { baseUrl } = await startServer('k');
  const { open } = providersOf({ installation: { baseUrl, apiKey: 'k' } });
  const found = await open().recognizers({
    ...CUSTOM,
    fallback: { recognition: [{ provider: 'openai' }, { provider: 'openai', options: { batch: true } }] },
  });
  expect(found.map((one) => [one.name, isStreaming(one)])).toEqual([
    ['custom', true],
    ['openai', false],
  ]);
});

test('A provider that is not configured is left for the one behind it', async () => {
  const { open, fallbacks } = providersOf({});
  const fallback = { recognition: [{ provider: 'local' }] } as const;
  const found = await open().recognizers({ ...CUSTOM, fallback: { recognition: [...fallback.recognition] } });
  expect(found.map(({ name }) => name)).toEqual(['local']);
  expect(fallbacks).toEqual([
    { kind: 'recognition', from: 'custom', to: 'local', reason: 'custom cannot be used' },
  ]);
  await expect(open().recognizers({ ...CUSTOM, fallback: { recognition: [] } })).rejects.toThrow(
    'custom cannot be used',
  );
});

test('Without a list of fallbacks, the recognizer of the settings is behind the one that is named', async () => {
  const { baseUrl } = await startServer('k');
  const { open } = providersOf({ installation: { baseUrl, apiKey: 'k' } });
  expect((await open().recognizers(CUSTOM)).map(({ name }) => name)).toEqual(['custom', 'local']);
});

test('A project’s credentials hold for the provider of the settings too', async () => {
  const own = await startServer('own');
  const credentials = { baseUrl: own.baseUrl, apiKey: 'own' };
  const defaults: SpeechDefaults = { ...DEFAULTS, recognition: { provider: 'custom' } };
  const call = providersOf({ defaults, project: credentials }).open();
  expect(await call.ownDefaults()).toEqual({ recognition: true, synthesis: false });
  expect(await hear((await call.recognizers({}))[0])).toBe('a table');
  const other = providersOf({ project: credentials }).open();
  expect(await other.ownDefaults()).toEqual({ recognition: false, synthesis: false });
});

test('Models that are named are reported, those of fallbacks too', async () => {
  const { open, used } = providersOf({ installation: { baseUrl: 'http://127.0.0.1:9', apiKey: 'k' } });
  const fallback = { recognition: [{ provider: 'openai' as const, model: 'whisper-1' }] };
  await open().recognizers({ recognition: { provider: 'custom', model: 'own' }, fallback });
  expect(used).toEqual(['own', 'whisper-1']);
});

const BATCH: SpeechDefaults = {
  recognition: { provider: 'openai', options: { batch: true } },
  synthesis: { provider: 'openai', voice: 'coral' },
};

test.each([
  [undefined, [false]],
  [{ language: 'de' }, [false]],
  [{ provider: 'openai' }, [true, false]],
  [{ provider: 'openai', options: { batch: true } }, [false]],
] as const)('With the endpoint as the default, %j streams: %j', async (recognition, isStreamed) => {
  const found = await providersOf({ defaults: BATCH }).open().recognizers({ recognition });
  expect(found.map(isStreaming)).toEqual(isStreamed);
});

test.each([
  [{ synthesis: { provider: 'elevenlabs' } }, ['elevenlabs', 'openai']],
  [{ synthesis: { provider: 'elevenlabs' }, fallback: { synthesis: [] } }, ['elevenlabs']],
  [
    { synthesis: { provider: 'elevenlabs' }, fallback: { synthesis: [{ provider: 'cartesia' }] } },
    ['elevenlabs', 'cartesia'],
  ],
  [{ synthesis: { voice: 'echo' } }, ['openai']],
  // It has no address.
  [{ synthesis: { provider: 'custom' } }, ['openai']],
] as const)('The voice of %j is that of the first of %j that works', async (speech, names) => {
  const found = await providersOf({ defaults: BATCH })
    .open()
    .synthesizers(speech as SpeechConfig);
  expect(found.map(({ name }) => name)).toEqual(names);
});

test.each([
  ['the installation’s', 'installation', [['project-1', { installationRecognitionMs: 1000 }]]],
  ['the project’s', 'project', []],
] as const)('Recognition on %s credentials counts for the project: %s %j', async (_, owner, expected) => {
  const { baseUrl } = await startServer('k');
  const { open, counted, told } = providersOf({ [owner]: { baseUrl, apiKey: 'k' } });
  const [recognizer] = await open().recognizers({ ...CUSTOM, fallback: { recognition: [] } });
  if (!recognizer || !isStreaming(recognizer)) throw new Error('not a streaming recognizer');
  await new Promise<void>((resolve) => {
    const connection = recognizer.connect({ sampleRateHz: 16_000 }, (event) => {
      if (event.type !== 'final') return;
      connection.push(new Int16Array(16_000));
      connection.close();
      resolve();
    });
  });
  expect(counted).toEqual(expected);
  // The call has used it, whoever pays.
  expect(told).toEqual([{ 'recognitionMs/custom': 1000 }]);
});

test('The vendors of the settings count for the project, whether a call or its agent chooses them', async () => {
  const { providers, open, counted, told } = providersOf({});
  const [chosen] = await open().synthesizers({});
  const [speechToText] = await open().recognizers({});
  if (!chosen || !speechToText) throw new Error('no vendor');
  const vendors = { speechToText, textToSpeech: chosen.model };
  const onUsed = (amounts: Amounts) => void told.push(amounts);
  const ofSettings = providers.counted('project-2', vendors, onUsed).textToSpeech;
  const signal = new AbortController().signal;
  for await (const _samples of forWholeTexts(ofSettings).synthesize({ text: 'Hi.' }, signal)) break;
  expect(counted).toEqual([
    ['project-1', { installationCharacters: 3 }],
    ['project-2', { installationCharacters: 3 }],
  ]);
  expect(told).toMatchObject([{ 'synthesisCharacters/local': 3 }, { 'synthesisCharacters/local': 3 }]);
});
