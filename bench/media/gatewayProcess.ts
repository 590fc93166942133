/** The measured process: a media thread as in the gateway, and the audio stream's other end in the main thread. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import type { GatewayThreadData } from '../../src/app/media/mediaThread.ts';
import { startThread } from '../../src/base/threads/thread.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { startMediaEngine } from '../../src/media/engine/mediaEngine.ts';
import type { MediaSession } from '../../src/media/mediaSession.ts';
import { frameLength } from '../../src/media/resample/frameResampler.ts';
import { acceptStream } from '../../src/streams/acceptStream.ts';
import { createWebrtcVad } from '../../src/vendors/fvad/webrtc.ts';
import type { FromGateway, GatewayFigures, ToGateway } from './messages.ts';

const PORTS = { min: 42_000, max: 43_999 };
const BUSY_INTERVAL_MS = 10;
const GARBAGE_OBJECTS = 2_000;

const folder = mkdtempSync(join(tmpdir(), 'callway-bench-'));
const activity = await createWebrtcVad();
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', (socket) => void serveEngine(socket));
await once(server, 'listening');
const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;

const engine = await startMediaEngine({
  clock: systemClock,
  startThread: (data) => {
    const targetPolicy = { allowInsecureLoopback: true };
    const workerData: GatewayThreadData = { ...data, targetPolicy, httpHost: '127.0.0.1' };
    return startThread(new URL('./mediaThread.ts', import.meta.url), { workerData });
  },
  threads: 1,
  ports: PORTS,
  address: '127.0.0.1',
  publicAddress: '127.0.0.1',
  onFault: (trouble) => console.error('trouble', trouble),
});
const sessions: MediaSession[] = [];
let busy: NodeJS.Timeout | undefined;

process.on('message', (message: ToGateway) => void obey(message));
process.on('disconnect', () => process.exit());
say({ kind: 'ready' });

async function obey(message: ToGateway): Promise<void> {
  switch (message.kind) {
    case 'open':
      for (const [n, port] of message.phonePorts.entries()) {
        const nth = n % (1 + message.participants);
        sessions.push(nth === 0 ? await open(port) : await openParticipant(port, sessions[n - nth]));
      }
      return say({ kind: 'opened', ports: sessions.map(({ rtpPort }) => rtpPort) });
    case 'busy':
      return beBusy(message.share);
    case 'figures':
      return say({ kind: 'figures', figures: await figures() });
    case 'close':
      return close();
  }
}

const PCMU = { encodingName: 'PCMU', rtpClockRateHz: 8000, channels: 1, payloadType: 0 };
const EVENTS = { ...PCMU, encodingName: 'telephone-event', payloadType: 101 };

async function connect(phonePort: number): Promise<MediaSession> {
  const session = await engine.open({ callId: `call-${phonePort}`, timeoutMs: 0 });
  await session.connect({
    remote: { address: '127.0.0.1', port: phonePort, rtcpPort: phonePort + 1 },
    codec: PCMU,
    dtmf: EVENTS,
    received: [PCMU, EVENTS],
    packetDurationMs: 20,
    direction: 'sendrecv',
  });
  return session;
}

async function openParticipant(phonePort: number, call: MediaSession | undefined): Promise<MediaSession> {
  if (call === undefined) throw new Error('a participant has no call');
  const session = await connect(phonePort);
  await session.join(call);
  return session;
}

async function open(phonePort: number): Promise<MediaSession> {
  const callId = `call-${phonePort}`;
  const session = await connect(phonePort);
  await session.startStream({
    url,
    dialect: 'callway',
    isInternal: true,
    streamId: callId,
    callId,
    customParameters: {},
    canReconnect: false,
  });
  await session.startRecording({ path: join(folder, `${callId}.wav`) });
  return session;
}

/** Runs voice activity detection on every frame. */
async function serveEngine(socket: Parameters<typeof acceptStream>[0]): Promise<void> {
  const expected = { projectId: 'p', sessionId: 's', dialect: 'callway' as const };
  const onListenerError = (error: unknown) => console.error(error);
  const stream = await acceptStream(socket, expected, { clock: systemClock, onListenerError });
  if (stream === undefined) throw new Error('no stream came of the connection');
  const detector = activity.open(stream.info.sampleRateHz);
  const frameSamples = frameLength(stream.info.sampleRateHz);
  stream.events.on('audio', (samples) => {
    for (let at = 0; at < samples.length; at += frameSamples) {
      detector.isSpeech(samples.subarray(at, at + frameSamples));
    }
    stream.play(samples.slice());
  });
  stream.events.on('closed', () => detector.close());
}

function beBusy(share: number): void {
  clearInterval(busy);
  if (share === 0) return;
  busy = setInterval(() => {
    const endMs = performance.now() + BUSY_INTERVAL_MS * share;
    let kept: object[] = [];
    while (performance.now() < endMs) {
      kept = Array.from({ length: GARBAGE_OBJECTS }, (_, n) => ({ n, text: `garbage ${n}` }));
    }
    if (kept.length > GARBAGE_OBJECTS) throw new Error('never');
  }, BUSY_INTERVAL_MS);
}

async function figures(): Promise<GatewayFigures> {
  const [thread] = await engine.statistics();
  if (thread === undefined) throw new Error('the media thread is gone');
  const { user, system } = process.cpuUsage();
  const { ticks, skippedTicks } = thread;
  return {
    cpuUs: user + system,
    residentBytes: process.memoryUsage.rss(),
    ticks,
    skippedTicks,
    latenessCounts: [...thread.tickDelayCounts],
  };
}

async function close(): Promise<void> {
  clearInterval(busy);
  await Promise.all(sessions.map((session) => session.close()));
  await engine.close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
  say({ kind: 'closed' });
}

function say(message: FromGateway): void {
  process.send?.(message);
}
