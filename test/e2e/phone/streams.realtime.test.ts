import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectTcp } from 'node:net';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { twilioSignature } from '../../../src/dialects/twilioSignature.ts';
import { record } from '../../streams/support/socketPair.ts';
import { type Dialect, streamPeer } from './support/bot.ts';
import { phoneInstallation } from './support/installation.ts';
import { SLOW } from './support/line.ts';
import { soundMs } from './support/tones.ts';

const installation = await phoneInstallation({ ROLES: 'api,worker,voice' });
const TALKATIVE = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Hello', prompt: 'Say "Hello, this is the restaurant."' } },
    { id: 'again', type: 'say', data: { title: 'Again', prompt: 'Did you say {{ lastUserMessage }}?' } },
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'again', data: { condition: { '!=': [1, 2] } } },
    { id: 'e2', source: 'again', target: 'again', data: { condition: { '!=': [1, 2] } } },
  ],
};
const STREAM_ID = 'MZ0123456789';

/** A foreign carrier that connects to the stream's URL. */
async function connect(url: string, dialect: Dialect, sampleRateHz: number) {
  const socket = new WebSocket(url, dialect === 'callway' ? ['audio.callway.v1'] : []);
  onTestFinished(() => socket.terminate());
  const recorded = record(socket);
  await once(socket, 'open');
  const end = streamPeer(socket, recorded, dialect, sampleRateHz, STREAM_ID);
  const encoding = dialect === 'twilio' ? 'audio/x-mulaw' : 'audio/l16;endianness=little';
  const mediaFormat = { encoding, sampleRate: sampleRateHz, channels: 1 };
  socket.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
  end.send({
    event: 'start',
    start: { streamSid: STREAM_ID, callSid: 'CA1', tracks: ['inbound'], mediaFormat },
  });
  const timer = setInterval(() => end.sendAudio(new Int16Array(sampleRateHz / 50)), 20);
  const closed = once(socket, 'close').then(([code]) => {
    clearInterval(timer);
    return code as number;
  });
  return { ...end, socket, closed };
}

async function statusOf(url: string): Promise<number | undefined> {
  const socket = new WebSocket(url);
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  response.resume();
  socket.terminate();
  return response.statusCode;
}

describe('a foreign carrier’s stream', () => {
  test.each([
    ['twilio', 8000],
    ['callway', 16_000],
  ] as const)('in %s hears the agent, and ends its session', async (dialect, sampleRateHz) => {
    const line = await installation().makeLine({ trunks: [] });
    const opened = await line.api('POST', '/media-streams', { dialect, variables: { name: 'Ada' } });
    expect(opened.status).toBe(201);
    const { url, sessionId } = opened.body;
    const stream = await connect(url, dialect, sampleRateHz);
    await vi.waitFor(() => expect(soundMs(stream.receivedAudio(), sampleRateHz)).toBeGreaterThan(500), SLOW);
    const { state } = (await line.api('GET', `/sessions/${sessionId}`)).body;
    expect(state).toMatchObject({ channel: 'web', variables: { name: 'Ada' } });
    expect(await statusOf(url)).toBe(401);
    stream.send({ event: 'stop', stop: { callSid: 'CA1' } });
    await stream.closed;
    const events = await line.waitForFinalized({ callId: '', sessionId });
    expect(events).toEqual(['session.ended', 'session.finalized']);
    const history = (await line.api('GET', `/session-history/${sessionId}`)).body;
    expect(history.messages[0]).toMatchObject({ role: 'assistant' });
  });

  test('of text turns talks with the agent, once Twilio’s signature is that of its token', async () => {
    const line = await installation().makeLine({ trunks: [], pathway: TALKATIVE });
    const asOperator = { key: installation().gateway.adminToken };
    const stored = await line.api('PUT', '/providers/twilio', { apiKey: 'auth-token' }, asOperator);
    expect(stored.status).toBe(200);
    const open = async () =>
      (await line.api('POST', '/media-streams', { dialect: 'conversationrelay' })).body;
    expect(await statusOf((await open()).url)).toBe(401);
    const { url, sessionId } = await open();
    const socket = new WebSocket(url, {
      headers: { 'X-Twilio-Signature': twilioSignature('auth-token', url) },
    });
    onTestFinished(() => socket.terminate());
    const said: { type: string; token?: string; last?: boolean }[] = [];
    socket.on('message', (data) => said.push(JSON.parse(String(data))));
    const spoken = () => said.map(({ token = '' }) => token).join('');
    await once(socket, 'open');
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({ type: 'setup', sessionId: 'VX1', callSid: 'CA1', customParameters: { name: 'Ada' } });
    await vi.waitFor(() => expect(said.at(-1)).toMatchObject({ type: 'text', last: true }), SLOW);
    const greeting = spoken();
    said.length = 0;
    send({
      type: 'interrupt',
      utteranceUntilInterrupt: greeting.split(' ')[0],
      durationUntilInterruptMs: 300,
    });
    send({ type: 'prompt', voicePrompt: 'I would like a table for two.', lang: 'en-US', last: true });
    await vi.waitFor(() => expect(said.at(-1)).toMatchObject({ type: 'text', last: true }), SLOW);
    socket.close(1000);
    await line.waitForFinalized({ callId: '', sessionId });
    const history = (await line.api('GET', `/session-history/${sessionId}`)).body;
    expect(history.variables).toMatchObject({ name: 'Ada' });
    const [first, second] = history.messages;
    expect(first).toMatchObject({ role: 'assistant', content: greeting.split(' ')[0] });
    expect(second).toMatchObject({ role: 'user', content: 'I would like a table for two.' });
  });

  test('of a jambonz application is answered with the address of its audio', async () => {
    const line = await installation().makeLine({ trunks: [] });
    const { url, sessionId } = (await line.api('POST', '/media-streams', { dialect: 'jambonz' })).body;
    const socket = new WebSocket(url, ['ws.jambonz.org']);
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    const answer = once(socket, 'message');
    socket.send(JSON.stringify({ type: 'session:new', msgid: 'm1', call_sid: 'c1', data: {} }));
    const [, listen] = JSON.parse(String((await answer)[0])).data;
    const audio = new WebSocket(listen.url, ['audio.jambonz.org']);
    onTestFinished(() => audio.terminate());
    const heard = once(audio, 'message');
    await once(audio, 'open');
    audio.send(JSON.stringify({ sampleRate: 8000, mixType: 'mono' }));
    expect((await heard)[1]).toBe(true);
    socket.send(JSON.stringify({ type: 'call:status', msgid: 'm2', data: { call_status: 'completed' } }));
    audio.close(1000);
    await line.waitForFinalized({ callId: '', sessionId });
  });

  test('without a ticket or with a made-up one is refused before the upgrade', async () => {
    const base = installation().gateway.url.replace(/^http/, 'ws');
    expect(await statusOf(`${base}/v1/media-streams`)).toBe(401);
    expect(await statusOf(`${base}/v1/media-streams/${'A'.repeat(32)}`)).toBe(401);
  });
});

describe('a client of OpenAI’s Realtime interface', () => {
  test('talks with the agent by the project’s address and key, and by a client secret', async () => {
    const { url } = installation().gateway;
    const line = await installation().makeLine({ trunks: [] });
    const client = new OpenAI({ apiKey: line.secretKey, baseURL: `${url}${line.path}` });
    const events = await textAnswer(new OpenAIRealtimeWS({ model: 'any', options: plain(url) }, client));
    expect(events.at(-1)).toMatchObject({ type: 'response.done', response: { status: 'completed' } });
    expect(events.find(({ type }) => type === 'response.output_text.done')).toMatchObject({
      text: expect.stringMatching(/\w/),
    });
    const { value } = await client.realtime.clientSecrets.create({ session: { type: 'realtime' } });
    const browser = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/realtime?model=any`, [
      'realtime',
      `openai-insecure-api-key.${value}`,
    ]);
    onTestFinished(() => browser.terminate());
    const recorded = record(browser);
    await once(browser, 'open');
    expect(browser.protocol).toBe('realtime');
    expect((await recorded.count(1))[0]).toMatchObject({ type: 'session.created' });
    browser.close();
    expect(await statusOf(`${url.replace(/^http/, 'ws')}/v1/realtime?model=any`)).toBe(401);
    expect(await statusOf(`${url.replace(/^http/, 'ws')}${line.path}/realtime`)).toBe(401);
  });
});

/** The SDK asks for `wss`; the test's service has no certificate. */
function plain(url: string) {
  const { hostname: host, port } = new URL(url);
  return { createConnection: () => connectTcp({ host, port: Number(port) }) };
}

/** The events until the agent's first answer, as text. */
async function textAnswer(realtime: OpenAIRealtimeWS): Promise<RealtimeServerEvent[]> {
  onTestFinished(() => realtime.close());
  const events: RealtimeServerEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    realtime.on('error', reject);
    realtime.on('event', (event) => {
      events.push(event);
      if (event.type === 'session.created')
        realtime.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
      if (event.type === 'response.done') resolve();
    });
  });
  return events;
}
