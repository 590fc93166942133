import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { Lifecycle } from '../../../src/app/lifecycle.ts';
import { sipServerOptions } from '../../../src/app/media/sipServer.ts';
import { openObjectStore } from '../../../src/app/node/objectStore.ts';
import { buildAdmission } from '../../../src/app/node/overload.ts';
import type { ThreadContext } from '../../../src/app/node/threadContext.ts';
import { buildTracing } from '../../../src/app/node/tracing.ts';
import { maxVoiceThreads } from '../../../src/app/roles/voice.ts';
import { buildChat, buildSpeech, buildSpeechEngines } from '../../../src/app/services/providers.ts';
import { loadConfig, providerPrefix } from '../../../src/app/settings/config.ts';
import { openVoiceActivity } from '../../../src/app/voice/voice.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { startHousekeeping } from '../../../src/infra/postgres/housekeeping.ts';
import type { ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { isStreaming } from '../../../src/models/ports/recognizer.ts';
import { takesWords } from '../../../src/models/ports/synthesizer.ts';
import { ProjectCredentialCache } from '../../../src/models/selection/projectCredentialCache.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createSessionMetrics } from '../../../src/observability/metrics/sessions.ts';
import { RECOGNITION_PROVIDERS, SYNTHESIS_PROVIDERS } from '../../../src/vendors/registry.ts';
import { lineNoise } from '../../support/lineNoise.ts';
import { listenOnLoopback, serveOnLoopback } from '../../support/loopbackServer.ts';
import { saying, startScriptedUpstream } from '../../support/scriptedUpstream.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { collectTraces } from '../../support/traceCollector.ts';

/** What settings change, where the part that reads them is built. The effect of its options has tests of its own. */

const logger = pino({ level: 'silent' });
const KEY = 'key-of-the-setting';
let lifecycle = new Lifecycle(() => undefined);
afterEach(async () => {
  await lifecycle.close();
  lifecycle = new Lifecycle(() => undefined);
});

function contextOf(env: Readonly<Record<string, string>>) {
  const clock = createSimulatedClock();
  const context: unknown = {
    config: loadConfig(env),
    clock,
    logger,
    sessionMetrics: createSessionMetrics(new Registry()),
    lifecycle,
    makeId: () => 'id',
    warn: () => undefined,
    credentials: new ProjectCredentialCache(
      async () => [],
      systemClock,
      () => undefined,
    ),
    targetPolicy: { allowInsecureLoopback: true },
    usage: { add: () => undefined },
  };
  return context as ThreadContext & { readonly clock: SimulatedClock };
}

describe('Chat settings', () => {
  const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi.' }] };

  test('name the endpoint, its key and the models', async () => {
    const upstream = await startScriptedUpstream({ steps: saying('Hi.') });
    onTestFinished(upstream.close);
    const {
      chat,
      choose: _,
      ofInstallation: __,
      ...models
    } = await buildChat(
      contextOf({
        OPENAI_BASE_URL: upstream.baseUrl,
        OPENAI_API_KEY: KEY,
        CHAT_MODEL_SMART: 'large',
        CHAT_MODEL_BALANCE: 'middle',
        CHAT_MODEL_TURBO: 'small',
      }),
    );
    for await (const _event of chat.stream(request, new AbortController().signal));
    expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(models).toEqual({ smart: 'large', balance: 'middle', turbo: 'small' });
  });

  test('CHAT_PROVIDER wins over an endpoint', async () => {
    const models = await buildChat(contextOf({ CHAT_PROVIDER: 'local', OPENAI_API_KEY: KEY }));
    expect([models.chat.name, models.smart]).toEqual(['rehearsal', models.turbo]);
  });

  test.each([
    [
      { CHAT_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: KEY },
      (origin: string) => ({ ANTHROPIC_BASE_URL: origin }),
      ['/v1/messages', 'x-api-key', KEY],
    ],
    [
      { CHAT_PROVIDER: 'google', GOOGLE_API_KEY: KEY },
      (origin: string) => ({ GOOGLE_BASE_URL: origin }),
      ['/v1beta/openai/chat/completions', 'authorization', `Bearer ${KEY}`],
    ],
  ] as const)(
    'give an endpoint its key and its address: %j',
    async (env, addressOf, [path, header, value]) => {
      const upstream = await startScriptedUpstream({ steps: saying('Hi.') });
      onTestFinished(upstream.close);
      const models = { CHAT_MODEL_SMART: 'm', CHAT_MODEL_BALANCE: 'm', CHAT_MODEL_TURBO: 'm' };
      const { origin } = new URL(upstream.baseUrl);
      const { chat } = await buildChat(contextOf({ ...env, ...addressOf(origin), ...models }));
      const abort = new AbortController();
      const read = async () => {
        for await (const _event of chat.stream(request, abort.signal));
      };
      // What is read of an answer is tested elsewhere.
      const reading = read().catch(() => undefined);
      await vi.waitFor(() => expect(upstream.requests).not.toEqual([]));
      abort.abort();
      await reading;
      expect([upstream.requests[0]?.path, upstream.requests[0]?.headers[header]]).toEqual([path, value]);
    },
  );

  test('MODEL_TIMEOUT_SECONDS ends the wait for the first token', async () => {
    const upstream = await startScriptedUpstream({ instead: 'hang' });
    onTestFinished(upstream.close);
    const context = contextOf({ OPENAI_BASE_URL: upstream.baseUrl, MODEL_TIMEOUT_SECONDS: '7' });
    const { chat } = await buildChat(context);
    const answer = (async () => {
      for await (const _event of chat.stream(request, new AbortController().signal));
    })();
    answer.catch(() => undefined);
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1));
    context.clock.advance(6_999);
    await expect(
      Promise.race([answer, new Promise((resolve) => setImmediate(resolve, 'waits'))]),
    ).resolves.toBe('waits');
    context.clock.advance(1);
    await expect(upstream.requests[0]?.outcome).resolves.toBe('client_left');
  });
});

/** The request, or the first message, of a vendor's connection. */
async function startVendor() {
  const seen: string[] = [];
  const server = createServer();
  new WebSocketServer({ server }).on('connection', (socket, { url, headers }) => {
    seen.push(`${url} ${JSON.stringify(headers)}`);
    socket.on('message', (data) => seen.push(String(data)));
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return { seen, baseUrl: `http://127.0.0.1:${port}` };
}

function credentialsOf(variable: 'STT_PROVIDER' | 'TTS_PROVIDER', provider: string, baseUrl: string) {
  const prefix = providerPrefix(variable, provider);
  return { [`${prefix}_API_KEY`]: KEY, [`${prefix}_BASE_URL`]: baseUrl };
}

describe('Speech settings', () => {
  const recognizers = RECOGNITION_PROVIDERS.filter((one) => one !== 'openai' && one !== 'local');
  test.each(recognizers)('name the recognizer %s, its key, address and model', async (provider) => {
    const { seen, baseUrl } = await startVendor();
    const env = { STT_PROVIDER: provider, TTS_PROVIDER: 'local', STT_MODEL: 'nova-of-mine' };
    const credentials = credentialsOf('STT_PROVIDER', provider, baseUrl);
    const { speechToText } = await buildSpeech(contextOf({ ...env, ...credentials }), logger);
    if (!isStreaming(speechToText)) throw new Error('it takes one utterance at a time');
    const connection = speechToText.connect({ sampleRateHz: 8000 }, () => undefined);
    onTestFinished(() => connection.close());
    await vi.waitFor(() => expect(seen.join()).toContain(KEY));
    await vi.waitFor(() => expect(seen.join()).toContain('nova-of-mine'));
  });

  // Deepgram's voices are its models.
  const others = ['openai', 'local', 'deepgram'];
  test.each(SYNTHESIS_PROVIDERS.filter((one) => !others.includes(one)))(
    'name the voice of %s, its key, address and model',
    async (provider) => {
      const { seen, baseUrl } = await startVendor();
      const env = {
        TTS_PROVIDER: provider,
        STT_PROVIDER: 'local',
        TTS_MODEL: 'model-of-mine',
        TTS_VOICE: 'voice-of-mine',
      };
      const credentials = credentialsOf('TTS_PROVIDER', provider, baseUrl);
      const { textToSpeech } = await buildSpeech(contextOf({ ...env, ...credentials }), logger);
      if (!takesWords(textToSpeech)) throw new Error('it takes whole texts');
      const connection = textToSpeech.connect();
      onTestFinished(() => connection.close());
      connection.speak({}, () => undefined).write('Hello there. ');
      for (const part of [KEY, 'model-of-mine', 'voice-of-mine'])
        await vi.waitFor(() => expect(seen.join()).toContain(part));
    },
  );

  test.each([
    [{ STT_API_KEY: KEY, TTS_API_KEY: KEY }, KEY],
    // The key of chat is not told to another server.
    [{}, undefined],
  ])(
    'STT_ and TTS_BASE_URL name servers like OpenAI’s for speech alone, with the key of %j',
    async (own, key) => {
      const asked: unknown[] = [];
      const server = createServer(async (request, response) => {
        const body = String(Buffer.concat(await request.toArray()));
        const [model] = /whisper-1|tts-1/.exec(body) ?? [];
        asked.push([request.url, request.headers.authorization, model]);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Tea."}');
      });
      const { port, close } = await listenOnLoopback(server);
      onTestFinished(close);
      const url = `http://127.0.0.1:${port}/speech/v1`;
      const context = contextOf({
        OPENAI_API_KEY: 'key-of-chat',
        STT_BASE_URL: url,
        TTS_BASE_URL: url,
        ...own,
      });
      const { speechToText, textToSpeech } = await buildSpeech(context, logger);
      if (isStreaming(speechToText) || takesWords(textToSpeech)) throw new Error('they take whole texts');
      const { signal } = new AbortController();
      await speechToText.openStream({ sampleRateHz: 8000 }).finalize(signal);
      const spoken = textToSpeech.synthesize({ text: 'Tea.' }, signal)[Symbol.asyncIterator]();
      spoken.next().catch(() => undefined);
      const authorization = key && `Bearer ${key}`;
      await vi.waitFor(() =>
        expect(asked.slice(0, 2)).toEqual([
          ['/speech/v1/audio/transcriptions', authorization, 'whisper-1'],
          ['/speech/v1/audio/speech', authorization, 'tts-1'],
        ]),
      );
    },
  );

  test('CUSTOM_S2S settings name the server, and its key', async () => {
    const { seen, baseUrl } = await startVendor();
    const context = contextOf({ CUSTOM_S2S_API_KEY: KEY, CUSTOM_S2S_BASE_URL: baseUrl });
    const engines = buildSpeechEngines(context, logger, async () => []).open('project-1', () => undefined);
    const { model: engine } = await engines.find({ provider: 'custom' });
    const connection = engine.connect({ sampleRateHz: 8000 }, () => undefined);
    onTestFinished(() => connection.close());
    await vi.waitFor(() => expect(seen.join()).toContain(KEY));
  });

  test('VOICE_ACTIVITY neural takes no passing car for speech', async () => {
    const street = lineNoise('street', { rms: 1000, samples: 8000 * 3, seed: 5 });
    const speech: number[] = [];
    for (const VOICE_ACTIVITY of ['webrtc', 'neural'] as const) {
      const detector = (await openVoiceActivity({ VOICE_ACTIVITY })).open(8000);
      const frames = Array.from({ length: 150 }, (_, n) => street.subarray(n * 160, (n + 1) * 160));
      speech.push(frames.filter((frame) => detector.isSpeech(frame)).length);
      detector.close();
    }
    expect(speech).toEqual([expect.toSatisfy((frames: number) => frames > 5), 0]);
  });
});

test('VOICE_THREADS limits the voice threads; the offline recognizer has one', () => {
  expect(maxVoiceThreads(loadConfig({ VOICE_THREADS: '3' }))).toBe(3);
  expect(maxVoiceThreads(loadConfig({ STT_PROVIDER: 'local' }))).toBe(1);
});

test('Settings of the SIP server reach it', () => {
  const [cert, key, ca] = ['server.pem', 'server.key', 'ca.pem'].map((file) =>
    fileURLToPath(new URL(`../../fixtures/tls/${file}`, import.meta.url)),
  ) as [string, string, string];
  const config = loadConfig({
    SIP_HOST: '127.0.0.3',
    SIP_TLS_PORT: '5071',
    SIP_TLS_CERT_FILE: cert,
    SIP_TLS_KEY_FILE: key,
    SIP_TLS_CA_FILE: ca,
    SIP_TLS_VERIFY: 'false',
    PUBLIC_IP: '203.0.113.9',
  });
  expect(sipServerOptions(config, 'secret')).toMatchObject({
    host: '127.0.0.3',
    tlsPort: 5071,
    publicAddress: '203.0.113.9',
    tls: {
      cert: expect.stringContaining('CERTIFICATE'),
      key: expect.stringContaining('PRIVATE KEY'),
      ca: expect.stringContaining('CERTIFICATE'),
      verify: false,
    },
  });
});

describe('Overload', () => {
  const overloaded = async (env: Readonly<Record<string, string>>) => {
    const context = {
      ...contextOf(env),
      storage: { waitingCalls: { isLeft: async () => true } } as never,
    };
    const counts = Float64Array.from({ length: 401 }, (_, quarterMs) => (quarterMs === 200 ? 1e6 : 0));
    let rounds = 0;
    const { overload, orderRefusal, callRefusal } = buildAdmission(context, {
      media: {
        statistics: async () => [{ tickDelayCounts: counts.map((count) => count * ++rounds) }],
      } as never,
      voiceThreads: () => undefined,
      isDraining: () => false,
    });
    overload.start();
    for (let second = 0; second < 10; second += 1) {
      context.clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return [overload.lateParts, orderRefusal()?.code, callRefusal()?.code];
  };
  const OFF = { OVERLOAD_EVENT_LOOP_MS: '0', OVERLOAD_RTP_MS: '0', OVERLOAD_QUEUE_MS: '0' };

  test('is off with 0', async () => {
    expect(await overloaded(OFF)).toEqual([[], undefined, undefined]);
  });

  test('begins with packets that are later than OVERLOAD_RTP_MS', async () => {
    expect(await overloaded({ ...OFF, OVERLOAD_RTP_MS: '20' })).toEqual([
      ['rtp'],
      'node_overloaded',
      'node_overloaded',
    ]);
    expect(await overloaded({ ...OFF, OVERLOAD_RTP_MS: '100' })).toEqual([[], undefined, undefined]);
  });

  test('of the queue begins with calls that wait for longer than OVERLOAD_QUEUE_MS', async () => {
    expect(await overloaded({ ...OFF, OVERLOAD_QUEUE_MS: '3000' })).toEqual([
      ['queue'],
      'node_overloaded',
      undefined,
    ]);
    expect(await overloaded({ ...OFF, OVERLOAD_QUEUE_MS: '60000' })).toEqual([[], undefined, undefined]);
  });
});

test('S3 settings name the store, the bucket, the region and the keys', async () => {
  const seen: [string | undefined, string | undefined][] = [];
  const server = await serveOnLoopback(({ url, headers }, response) => {
    seen.push([url, headers.authorization]);
    response.writeHead(404).end();
  });
  onTestFinished(server.close);
  const bucket = await openObjectStore(
    loadConfig({
      S3_BUCKET: 'recordings',
      S3_REGION: 'eu-test-7',
      S3_ENDPOINT: `http://127.0.0.1:${server.port}`,
      S3_ACCESS_KEY_ID: 'access-key',
      S3_SECRET_ACCESS_KEY: 'secret-key',
      S3_FORCE_PATH_STYLE: 'true',
    }),
    lifecycle,
  );
  expect(await bucket?.lengthOf('a')).toBeUndefined();
  expect(seen).toEqual([
    ['/recordings/a', expect.stringMatching(/Credential=access-key\/\d{8}\/eu-test-7\/s3\//)],
  ]);
});

test('OpenTelemetry settings name the collector, its headers, the service and the ratio', async () => {
  const collector = await collectTraces();
  onTestFinished(collector.close);
  for (const ratio of ['0', '1']) {
    const config = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-tenant=${KEY}`,
      OTEL_SERVICE_NAME: 'front-desk',
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
    const exporting = new Lifecycle(() => undefined);
    const tracer = await buildTracing(config, 'instance', logger, exporting);
    tracer.startSpan(`at ratio ${ratio}`).end();
    await exporting.close();
  }
  expect(collector.spans.map(({ name, resource }) => [name, resource['service.name']])).toEqual([
    ['at ratio 1', 'front-desk'],
  ]);
  expect(collector.headers[0]).toMatchObject({ 'x-tenant': KEY });
});

test('AUDIT_RETENTION_DAYS is the age from which audit entries are removed', async () => {
  const { AUDIT_RETENTION_DAYS } = loadConfig({ AUDIT_RETENTION_DAYS: '30' });
  const clock = createSimulatedClock();
  const removed: Date[] = [];
  const stop = startHousekeeping({
    database: { query: async () => [] },
    audit: { removeOlderThan: async (time) => void removed.push(time) },
    auditRetentionDays: AUDIT_RETENTION_DAYS,
    releases: { removeUnused: async () => undefined },
    clock,
    logger,
  });
  clock.advance(3_600_000);
  await vi.waitFor(() => expect(removed).not.toEqual([]));
  await stop();
  const days = (clock.now() - (removed[0]?.getTime() ?? 0)) / 86_400_000;
  expect(days).toBeCloseTo(30, 0);
});

test('LOG_LEVEL is the lowest level that is written', () => {
  const lines: string[] = [];
  const { LOG_LEVEL } = loadConfig({ LOG_LEVEL: 'warn' });
  const log = createLogger(LOG_LEVEL, { write: (line) => void lines.push(line) });
  log.info('quiet');
  log.warn('loud');
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['loud']);
});
