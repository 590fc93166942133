import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { parseWav } from '../../../../src/media/wav.ts';
import { sharedGateway, type TestProject } from '../../../support/gateway.ts';
import { listenOnLoopback } from '../../../support/loopbackServer.ts';

const WORD_SAMPLES = 2400;
const voiceServer = await startVoiceServer();
const gateway = sharedGateway({
  env: {
    CUSTOM_TTS_BASE_URL: voiceServer.baseUrl,
    ...Object.fromEntries(
      ['ELEVENLABS', 'CARTESIA', 'DEEPGRAM'].flatMap((name) => [
        [`${name}_API_KEY`, 'k'],
        [`${name}_BASE_URL`, voiceServer.baseUrl],
      ]),
    ),
  },
});
afterAll(() => voiceServer.close());
const KEY = 'dg-secret-key-of-the-project-1234';

const send = (
  project: Pick<TestProject, 'path'>,
  method: string,
  path = '',
  more: { key?: string | null; body?: unknown } = {},
) => gateway().api(method, `${project.path}/providers${path}`, more);

test('Provider credentials are stored with apiKey and baseUrl, and shown by a hint', async () => {
  const project = await gateway().createProject();
  const body = { apiKey: KEY, baseUrl: 'https://Speech.Example.com/' };
  const put = await send(project, 'PUT', '/openai', { body });
  expect(put.status).toBe(200);
  expect(put.body).toMatchObject({ name: 'openai', hint: '…1234', baseUrl: 'https://speech.example.com' });
  expect((await send(project, 'GET', '/openai')).body).toEqual(put.body);
  await send(project, 'PUT', '/custom_tts', { body: { apiKey: 'short' } });
  const list = (await send(project, 'GET')).body;
  expect(list.data).toMatchObject([{ name: 'custom_tts', hint: '…', baseUrl: null }, put.body]);
  expect(list.pagination).toMatchObject({ total: 2 });
  const first = (await send(project, 'GET', '?limit=1')).body;
  const second = (await send(project, 'GET', `?limit=1&cursor=${first.pagination.nextCursor}`)).body;
  expect([...first.data, ...second.data]).toEqual(list.data);

  expect((await send(project, 'DELETE', '/openai')).status).toBe(204);
  expect((await send(project, 'DELETE', '/openai')).status).toBe(404);
  expect((await send(project, 'GET', '/openai')).status).toBe(404);
  const log = (await gateway().api('GET', `${project.path}/audit-log`)).body;
  expect(log.data.slice(0, 3)).toMatchObject([
    { action: 'provider.deleted', target: 'openai' },
    { action: 'provider.updated', target: 'custom_tts', details: { hint: '…', baseUrl: null } },
    { action: 'provider.updated', target: 'openai', details: { hint: '…1234' } },
  ]);
  expect(JSON.stringify([put.body, list, log])).not.toContain(KEY);
});

test.each([
  ['openai', { apiKey: '' }, '/apiKey'],
  ['openai', { apiKey: 'two words' }, '/apiKey'],
  ['openai', { apiKey: 'line\r\nbreak' }, '/apiKey'],
  ['openai', { apiKey: 'k'.repeat(1001) }, '/apiKey'],
  ['openai', {}, '/apiKey'],
  ['openai', { apiKey: 'k', model: 'm' }, '/model'],
  ['openai', { apiKey: 'k', baseUrl: 'https://example.com/v1' }, '/baseUrl'],
  ['custom_stt', { apiKey: 'k', baseUrl: 'https://[::1]:9000' }, '/baseUrl'],
  ['twilio', { apiKey: 'k', baseUrl: 'https://api.twilio.com' }, '/baseUrl'],
  ['local', { apiKey: 'k' }, undefined],
])('Provider credentials of %s cannot be %j', async (name, body, path) => {
  const project = await gateway().createProject();
  const answer = await send(project, 'PUT', `/${name}`, { body });
  expect(answer.status).toBe(400);
  if (path !== undefined) expect(answer.body.details).toMatchObject([{ path }]);
  expect((await send(project, 'GET')).body.data).toEqual([]);
});

/**
 * A server of `tts.callway.v1` that speaks each word for 100 ms; its voice `nobody` is unknown, and `mute` is lost. Also
 * the voices of the vendors: `known` is one, for `mute` there is no answer.
 */
async function startVoiceServer() {
  const server = createServer(({ url = '' }, response) => {
    if (url.endsWith('/mute')) response.destroy();
    else if (url.startsWith('/v1/models'))
      response.end('{"tts": [{"name": "n", "canonical_name": "known"}]}');
    else response.writeHead(url.endsWith('/known') ? 200 : 404).end('{}');
  });
  const asked: { voice?: string; text?: string; language?: string; speed?: number; key?: string }[] = [];
  const answer = (
    socket: WebSocket,
    id: unknown,
    { voice, text = '' }: { voice?: string; text?: string } = {},
  ) => {
    if (voice === 'mute') return socket.terminate();
    if (voice === 'nobody')
      return socket.send(JSON.stringify({ type: 'error', id, message: 'unknown voice', retryable: false }));
    for (const _word of text.match(/\S+/g) ?? [])
      socket.send(Buffer.from(new Int16Array(WORD_SAMPLES).fill(5000).buffer));
    socket.send(JSON.stringify({ type: 'done', id }));
  };
  const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false });
  sockets.on('connection', (socket, { headers }) => {
    socket.on('message', (data) => {
      const { type, id, ...told } = JSON.parse(String(data));
      const latest = asked.at(-1);
      if (type === 'start') asked.push({ ...told, key: headers.authorization });
      else if (type === 'text' && latest) latest.text = (latest.text ?? '') + told.text;
      else if (type === 'flush') answer(socket, id, latest);
    });
  });
  const { port, close } = await listenOnLoopback(server);
  return { baseUrl: `http://127.0.0.1:${port}`, asked, close };
}

const preview = (project: TestProject, body: unknown, key = project.developerKey) =>
  gateway().api('POST', `${project.path}/speech/preview`, { key, body });

test('A preview says the text as speech wants it, else the agent', async () => {
  const project = await gateway().createProject();
  const agent = {
    speech: { synthesis: { provider: 'custom', voice: 'mia' }, recognition: { language: 'fr' } },
  };
  await gateway().api('PATCH', `${project.path}/agent`, { key: project.developerKey, body: agent });
  await send(project, 'PUT', '/custom_tts', { body: { apiKey: KEY } });
  const say = async (body: object) => {
    const response = await fetch(`${gateway().url}${project.path}/speech/preview`, {
      method: 'POST',
      headers: { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    const { samples, ...format } = parseWav(new Uint8Array(await response.arrayBuffer()));
    expect(format).toEqual({ channels: 1, sampleRateHz: 24_000 });
    return { words: samples.length / WORD_SAMPLES, ...voiceServer.asked.at(-1) };
  };
  expect(await say({ text: 'Hello **there**.' })).toMatchObject({
    ...{ words: 2, text: 'Hello there.', voice: 'mia', language: 'fr', key: `Bearer ${KEY}` },
  });
  const speech = {
    synthesis: { provider: 'custom', voice: 'leo', speed: 1.5 },
    recognition: { language: 'de' },
    pronunciations: [{ word: 'Nguyen', say: 'win' }],
  };
  expect(await say({ text: 'Hello Nguyen', speech })).toMatchObject({
    ...{ text: 'Hello win', voice: 'leo', language: 'de', speed: 1.5 },
  });
  const voices = { en: { voice: 'ann' }, ja: { voice: 'yui' } };
  const inJapanese = { voices, recognition: { language: 'ja' } };
  expect(await say({ text: 'Hai', speech: inJapanese })).toMatchObject({ voice: 'yui', language: 'ja' });
});

test('A review warns of a provider without credentials until the project has some', async () => {
  const project = await gateway().createProject();
  const agent = { speech: { recognition: { provider: 'soniox' } }, chat: { endpoint: 'anthropic' } };
  await gateway().api('PATCH', `${project.path}/agent`, { key: project.developerKey, body: agent });
  const paths = async () => {
    const { body } = await gateway().api('POST', `${project.path}/pathway/validate`, {
      key: project.developerKey,
    });
    return body.problems.flatMap((one: { code: string; path: string }) =>
      one.code === 'provider_without_credentials' ? [one.path] : [],
    );
  };
  expect(await paths()).toEqual(['/agent/speech/recognition/provider', '/agent/chat/endpoint']);
  await send(project, 'PUT', '/soniox', { body: { apiKey: KEY } });
  await send(project, 'PUT', '/anthropic', { body: { apiKey: KEY } });
  expect(await paths()).toEqual([]);
});

const LONG = [{ word: 'a', say: 'aaaaaaaaaa' }];
test.each([
  [400, 'invalid_request', { text: '' }],
  [400, 'invalid_request', { text: 'a'.repeat(1001) }],
  [400, 'invalid_request', { text: 'Hello', voice: 'mia' }],
  [400, 'invalid_request', { text: 'Hello', speech: { synthesis: { provider: 'nobody' } } }],
  [400, 'nothing_to_say', { text: '… ?!' }],
  [400, 'text_too_long', { text: 'a '.repeat(400), speech: { pronunciations: LONG } }],
  [422, 'speech_rejected', { text: 'Hello', speech: { synthesis: { provider: 'custom', voice: 'nobody' } } }],
  [
    503,
    'speech_unavailable',
    { text: 'Hello', speech: { synthesis: { provider: 'custom', voice: 'mute' } } },
  ],
])('A preview answers %i %s to %j', async (status, code, body) => {
  const project = await gateway().createProject();
  const answer = await preview(project, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(answer.headers.has('retry-after')).toBe(status === 503);
});

test('Previews need the scope write of their own project, and are thirty a minute', async () => {
  const [project, other] = [await gateway().createProject(), await gateway().createProject()];
  const { key: reader } = await gateway().createKey(project, { scopes: ['read'] });
  const unspoken = { text: '…' };
  expect((await preview(project, unspoken, reader)).status).toBe(403);
  expect((await preview(project, unspoken, other.developerKey)).status).toBe(401);
  const answers = await Promise.all(Array.from({ length: 61 }, () => preview(project, unspoken)));
  const limited = answers.filter(({ status }) => status === 429);
  // Two clock minutes at most.
  expect(limited.length).toBeGreaterThan(0);
  expect(limited[0]?.headers.has('retry-after')).toBe(true);
  expect(answers.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(30);
  expect((await preview(other, unspoken)).status).toBe(400);
});

test.each([['elevenlabs'], ['cartesia'], ['deepgram']])(
  'A voice that %s does not have is refused where it is saved, with its place',
  async (provider) => {
    const project = await gateway().createProject();
    const put = (path: string, body: unknown, method = 'PUT') =>
      gateway().api(method, project.path + path, { key: project.developerKey, body });
    const speech = (voice: string) => ({ synthesis: { provider, voice } });
    const data = { title: 'Talk', prompt: 'Talk.' };
    const start = { id: 'start', type: 'start', data };
    const refusedAt = async (answer: ReturnType<typeof put>) => {
      const { status, body } = await answer;
      return status === 400 && body.code === 'unknown_voice' ? body.details[0].path : status;
    };
    expect(await refusedAt(put('/agent', { speech: speech('ghost') }))).toBe('/speech/synthesis/voice');
    const own = { speech: { synthesis: { provider }, voices: { de: { voice: 'ghost' } } } };
    expect(await refusedAt(put('/agent', own))).toBe('/speech/voices/de/voice');
    const second = { speech: { fallback: { synthesis: [{ provider, voice: 'ghost' }] } } };
    expect(await refusedAt(put('/agent', second))).toBe('/speech/fallback/synthesis/0/voice');
    // Of the vendors only some are asked for one voice; all know their own.
    if (provider !== 'deepgram') expect(await refusedAt(put('/agent', { speech: speech('mute') }))).toBe(200);
    expect(await refusedAt(put('/agent', { speech: speech('known') }))).toBe(200);
    // The node's provider is the agent's.
    const node = { ...start, data: { ...data, speech: { synthesis: { voice: 'ghost' } } } };
    expect(await refusedAt(put('/pathway', { nodes: [node], edges: [] }))).toBe(
      '/nodes/0/data/speech/synthesis/voice',
    );
    expect(await refusedAt(put('/pathway', { nodes: [start], edges: [] }))).toBe(200);
    const later = { id: 'later', type: 'conversation', data: { ...data, speech: speech('ghost') } };
    expect(await refusedAt(put('/pathway/nodes', later, 'POST'))).toBe('/data/speech/synthesis/voice');
    expect(await refusedAt(put('/pathway/nodes/start', { data: { speech: speech('ghost') } }, 'PATCH'))).toBe(
      '/data/speech/synthesis/voice',
    );
    expect(await refusedAt(put('/pathway/nodes/start', { data: { speech: speech('known') } }, 'PATCH'))).toBe(
      200,
    );
  },
);
