import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { callees } from '../scenarios/callees.ts';
import { createClient } from '../support/gateway.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type ServiceProcess, startService } from '../support/processes.ts';
import { redisDatabase } from '../support/redis.ts';
import { requiresSipPeers } from '../support/skips.ts';
import { startCallee } from './phone/support/callee.ts';
import { type Client, type Line, makeLine, type PlacedCall, SLOW } from './phone/support/line.ts';
import { ALL_EVENTS, receiveWebhooks, type WebhookReceiver } from './phone/support/webhooks.ts';

const TIMEOUT = 180_000;
let client: Client;
let webhooks: WebhookReceiver;
let voices: ServiceProcess[];
let media: ServiceProcess;
const closers: (() => unknown)[] = [];

async function startRole(role: string, shared: Record<string, string>, more: Record<string, string> = {}) {
  const env = { ...shared, ROLES: role, ...more };
  const service = await startService({ env });
  closers.push(() => service.close());
  return service;
}

beforeAll(async () => {
  const [database, redisOfTest] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  closers.push(database.drop, redisOfTest.drop);
  webhooks = await receiveWebhooks();
  closers.push(() => webhooks.close());
  const shared = {
    DATABASE_URL: database.url,
    REDIS_URL: redisOfTest.url,
    CALLWAY_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ALLOW_INSECURE_WEBHOOKS: 'true',
    STT_PROVIDER: 'local',
    TTS_PROVIDER: 'local',
  };
  const api = await startRole('api', shared);
  const [one, other] = await Promise.all([startRole('voice', shared), startRole('voice', shared)]);
  voices = [one, other];
  [media] = await Promise.all([
    startRole('media', shared, { MEDIA_WORKERS: '1' }),
    startRole('worker', shared),
  ]);
  client = await createClient(api.url, shared.CALLWAY_ADMIN_TOKEN);
}, TIMEOUT);
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** The voice node of the only call. @param dead - One that does not answer. */
async function talker(dead?: ServiceProcess): Promise<ServiceProcess> {
  return await vi.waitFor(async () => {
    for (const voice of voices) {
      if (voice === dead) continue;
      const metrics = await metricsOf(voice).catch(() => ''); // that of an earlier test may have been killed
      if (/^callway_talks_active 1$/m.test(metrics)) return voice;
    }
    throw new Error('no voice node has a session');
  }, SLOW);
}

async function historyOf(line: Line, { sessionId }: PlacedCall) {
  return (await line.api('GET', `/session-history/${sessionId}`)).body as {
    messages: { role: string; content: string }[];
    events: { type: string; data: { code?: string } }[];
  };
}

/** What a process exposes. */
async function metricsOf({ url }: ServiceProcess): Promise<string> {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** A call that has ended, with its audio from the API, and the files of its project's recordings on the media node. */
async function recordedCall() {
  const callee = await startCallee(callees.answers);
  const line = await makeLine(client, webhooks, { trunks: [{ port: callee.port }] });
  const call = await line.call();
  await line.waitForStatus(call, 'in_progress');
  await line.api('POST', `/calls/${call.callId}/hangup`);
  await line.waitForFinalized(call);
  const { recording, toNumber } = await line.readCall(call);
  expect(recording).toMatchObject({ status: 'ready' });
  const folder = join(media.dataDir, 'recordings', line.id);
  return {
    line,
    call,
    toNumber,
    files: () => readdir(folder),
    async audio(range = 'bytes=0-'): Promise<[status: number, body: string]> {
      const answer = await fetch(recording.url, { headers: { range } });
      return [answer.status, await answer.text()];
    },
  };
}

describe('each role in a process of its own', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('a call survives a frozen voice node and the death of the next, and ends as usual', async () => {
    const callee = await startCallee(callees.answers);
    const line = await makeLine(client, webhooks, { trunks: [{ port: callee.port }] });
    const call = await line.call();
    await line.waitForStatus(call, 'in_progress');
    await vi.waitFor(async () => {
      expect((await historyOf(line, call)).messages).toHaveLength(1);
    }, SLOW);

    const resumed = (times: number, what: string, sinceMs = performance.now()) =>
      vi
        .waitFor(async () => {
          // On a busy machine the first attempt may time out; the next one follows.
          const codes = (await historyOf(line, call)).events
            .flatMap(({ data }) => data.code ?? [])
            .filter((code) => code !== 'engine_unavailable');
          const rounds = new Array(times).fill(['engine_lost', 'stream_resumed']).flat();
          expect(codes).toEqual(rounds);
        }, SLOW)
        .then(() => {
          const ms = Math.round(performance.now() - sinceMs);
          console.log(`the agent had said that it is back ${ms} ms after its node ${what}`);
        });
    const first = await talker();
    first.suspend();
    await resumed(1, 'had frozen');
    const other = await talker(first);
    // What the resumed node says belongs to a stream that is gone.
    first.resume();
    await other.kill();
    await resumed(2, 'had died');
    const second = await talker(other);
    expect(second).toBe(first);
    expect((await line.readCall(call)).status).toBe('in_progress');
    expect(await metricsOf(second)).toMatch(/^callway_talks_active 1$/m);
    expect(await metricsOf(media)).toMatch(/^callway_call_places_used 1$/m);

    expect((await line.api('POST', `/calls/${call.callId}/hangup`)).status).toBe(200);
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'api_hangup' });
    expect((await callee.ended).exitCode).toBe(0);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    const { messages, events } = await historyOf(line, call);
    const carried = await metricsOf(media);
    expect(carried).toMatch(/^callway_calls_active\{direction="outbound"\} 0$/m);
    expect(carried).toMatch(
      /^callway_calls_total\{direction="outbound",status="completed",end_reason="api_hangup"\} 1$/m,
    );
    for (const phase of ['accepted_to_invite', 'invite_to_answer', 'answer_to_audio'])
      expect(carried).toContain(`callway_call_setup_seconds_count{phase="${phase}"} 1`);
    expect(carried).toMatch(/^callway_rtp_packets_total\{direction="sent"\} [1-9]\d+$/m);
    expect(carried).toMatch(/^callway_playout_lateness_seconds_count [1-9]\d*$/m);
    expect(carried).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expect(carried).toMatch(/^callway_queue_jobs\{queue="calls",state="waiting"\} 0$/m);
    // Greeted once.
    expect(messages.filter(({ content }) => content.startsWith('Hello'))).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'session_started')).toHaveLength(1);
  });

  test('an API node relays the stream of another carrier to a voice node', async () => {
    const line = await makeLine(client, webhooks, { trunks: [] });
    const { url } = (await line.api('POST', '/media-streams', { dialect: 'twilio' })).body;
    const socket = new WebSocket(url);
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    const start = { streamSid: 'MZ1', callSid: 'CA1', tracks: ['inbound'] };
    socket.send(JSON.stringify({ event: 'start', start }));
    const [message] = await once(socket, 'message');
    expect(JSON.parse(String(message))).toMatchObject({ event: 'media', streamSid: 'MZ1' });
    expect(await metricsOf(await talker())).toMatch(/^callway_voice_thread_sessions\{thread="1"\} 1$/m);
  });

  test('the API serves the recording of a media node, and erases it there', async () => {
    const { line, call, toNumber, audio, files } = await recordedCall();
    expect(await audio('bytes=0-3')).toEqual([206, 'RIFF']);
    expect((await line.api('GET', `/calls/${call.callId}/peaks`)).status).toBe(200);
    expect(await files()).toHaveLength(1);
    expect((await line.api('DELETE', `/customers/${encodeURIComponent(toNumber)}`)).status).toBe(204);
    await vi.waitFor(async () => expect(await files()).toEqual([]), SLOW);
    expect((await audio())[0]).toBe(404);
  });

  test('a media node shuts down in order within its drain time, and takes its recordings along', async () => {
    const { audio } = await recordedCall();
    expect((await media.stop()).code).toBe(0);
    expect(await audio()).toEqual([503, expect.stringContaining('recording_unavailable')]);
  });
});
