import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundle } from '../../../scripts/lib/bundle.mjs';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { StreamTarget } from '../../../src/media/agentStream/streamClient.ts';
import {
  type MediaFault,
  startMediaEngine,
  type ThreadedMediaEngine,
} from '../../../src/media/engine/mediaEngine.ts';
import type { ThreadStatistics } from '../../../src/media/engine/threadMessages.ts';
import type { MediaSession, NegotiatedCodec } from '../../../src/media/mediaSession.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { soundMs, toneMs } from '../../e2e/phone/support/tones.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { type RtpPhone, startRtpPhone } from '../../support/media/rtpPhone.ts';
import { makeTempDir, tempDir } from '../../support/tempDir.ts';
import { CODECS, EVENTS, read } from '../support/callHarness.ts';
import { rootMeanSquare, tone, tonePower } from '../support/signals.ts';

/** Built once: some twenty threads start here. */
const THREADS = {
  'src/echoThread': 'test/support/media/echoThread.ts',
  'src/recordingThread': 'src/app/media/recordingThread.ts',
};
/** Of two channels of 16 bits at 8000 Hz. */
const SECOND_OF_RECORDING_BYTES = 8000 * 2 * 2;
/** Below the ephemeral ports, one of which any other socket may have, and below those that other tests reserve. */
const PORTS = { min: 9_400, max: 9_439 };

const folder = makeTempDir();
const startEchoThread = (workerData: unknown) =>
  new Worker(join(folder.path, 'src/echoThread.js'), { workerData, stderr: true });

let assertNoLeaks: () => Promise<void>;
beforeAll(async () => {
  expect(await bundle(folder.path, THREADS)).toEqual({ ok: true, output: '' });
  assertNoLeaks = detectLeaks();
});
afterAll(async () => {
  await assertNoLeaks();
  folder.remove();
});

async function startEngine(options: { threads?: number; ports?: typeof PORTS } = {}) {
  const troubles: MediaFault[] = [];
  const exitCodes: number[] = [];
  const engine = await startMediaEngine({
    clock: systemClock,
    startThread: (workerData) => startEchoThread(workerData).once('exit', (code) => exitCodes.push(code)),
    threads: options.threads ?? 1,
    ports: options.ports ?? PORTS,
    address: '127.0.0.1',
    publicAddress: '127.0.0.1',
    onFault: (trouble) => troubles.push(trouble),
  });
  onTestFinished(() => engine.close());
  return { engine, troubles, exitCodes };
}

const open = (engine: ThreadedMediaEngine) => engine.open({ callId: 'c', timeoutMs: 0 });

async function startPhone(codec: NegotiatedCodec, samples: Int16Array): Promise<RtpPhone> {
  const phone = await startRtpPhone(codec, samples);
  onTestFinished(() => phone.close());
  return phone;
}

const target = (url: string): StreamTarget => ({
  url,
  dialect: 'callway',
  streamId: 's',
  callId: 'c',
  customParameters: {},
  canReconnect: false,
});

async function connect(session: MediaSession, phone: RtpPhone, codec: NegotiatedCodec): Promise<void> {
  await session.connect({
    remote: { address: '127.0.0.1', port: phone.port, rtcpPort: phone.port + 1 },
    codec,
    dtmf: EVENTS,
    received: [codec, EVENTS],
    packetDurationMs: 20,
    direction: 'sendrecv',
  });
}

/** Frames of 20 ms that have this tone at any phase. */
const framesOf = (samples: Int16Array, frequencyHz: number) =>
  Array.from({ length: Math.floor(samples.length / 160) }, (_, n) =>
    samples.slice(n * 160, (n + 1) * 160),
  ).filter((frame) => rootMeanSquare(frame) > 1000 && share(frame, 8000, frequencyHz) > 0.5).length;
/** Speech packets, without DTMF events and RTCP. */
const heardBy = ({ phone, received }: RtpPhone) =>
  phone.hear(received.filter(({ bytes }) => (bytes[1] ?? 0) < 200));

const share = (samples: Int16Array, rateHz: number, frequencyHz: number) =>
  tonePower(samples, rateHz, frequencyHz) / (2 * rootMeanSquare(samples) ** 2);

describe('Media engine with real threads and sockets', () => {
  it('carries a call to its agent and back, records it and reports', async () => {
    const { engine } = await startEngine();
    const session = await open(engine);
    expect(session).toMatchObject({ address: '127.0.0.1', rtpPort: PORTS.min });
    const phone = await startPhone(CODECS.PCMU, tone(8000, 1000, 8000));
    const events: string[] = [];
    for (const name of ['firstPacket', 'firstAgentAudio', 'dtmf', 'command'] as const) {
      session.events.on(name, () => events.push(name));
    }
    await connect(session, phone, CODECS.PCMU);
    await session.startStream(target('echo:'));
    const path = join(tempDir(), 'call.wav');
    await session.startRecording({ path });
    phone.sendTo(session.rtpPort);
    // A busy machine leaves gaps in the tone, so that this waits for enough of it.
    await expect.poll(() => toneMs(heardBy(phone), 8000, 1000), { interval: 100 }).toBeGreaterThan(1000);
    expect(await session.quality()).toMatchObject({ codec: 'PCMU' });
    expect(engine.sessions).toBe(1);
    expect(await engine.statistics()).toMatchObject([{ sessions: 1 }]);
    await session.sendDtmf('7');

    const report = await session.close();
    expect(await session.close()).toBe(report);
    expect(engine.sessions).toBe(0);
    // The agent echoes the silence before the first packet, too.
    expect(events.toSorted()).toEqual(['firstAgentAudio', 'firstPacket']);
    await expect.poll(() => phone.received.some(({ bytes }) => read(bytes).payloadType === 101)).toBe(true);
    // One packet a tick; skipped ticks are counted.
    const [{ ticks, skippedTicks }] = (await engine.statistics()) as [ThreadStatistics];
    expect(report.packetsSent).toBe(ticks);
    expect(report.counters?.packetsDue).toBe(ticks + skippedTicks);
    expect(report.quality?.packetsReceived).toBeGreaterThan(50);
    expect(report.quality?.mos).toBeGreaterThanOrEqual(1);
    const file = parseWav(readFileSync(path));
    expect(file.sampleRateHz).toBe(8000);
    expect(report.recording).toMatchObject({ path, durationMs: file.samples.length / 16 });
    for (const samples of [heardBy(phone), pickChannel(file, 0), pickChannel(file, 1)]) {
      const purelyMs = toneMs(samples, 8000, 1000);
      expect(purelyMs).toBeGreaterThan(900);
      // Gaps are faded; the rest is the tone.
      expect(purelyMs / soundMs(samples, 8000)).toBeGreaterThan(0.7);
    }
  });

  it('distributes calls over its threads, each with its own port', async () => {
    const { engine } = await startEngine({ threads: 2 });
    const sessions = await Promise.all(Array.from({ length: 6 }, () => open(engine)));
    expect(new Set(sessions.map(({ rtpPort }) => rtpPort)).size).toBe(6);
    expect((await engine.statistics()).map(({ sessions: count }) => count)).toEqual([3, 3]);
  });

  it('skips ports in use, and fails when all are taken', async () => {
    const other = createSocket('udp4');
    other.bind(9_443, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { engine } = await startEngine({ ports: { min: 9_440, max: 9_445 } });
    const [first, second] = [await open(engine), await open(engine)];
    expect([first.rtpPort, second.rtpPort]).toEqual([9_440, 9_444]);
    await expect(open(engine)).rejects.toMatchObject({
      category: 'unavailable',
      code: 'media_ports_exhausted',
    });
    await first.close();
    expect((await open(engine)).rtpPort).toBe(9_440);
  });

  it.each(['crash:', 'throw:'])(
    'loses only the calls of a thread that dies by %s, and replaces it',
    async (how) => {
      const { engine, troubles } = await startEngine({ threads: 2 });
      const [doomed, spared] = [await open(engine), await open(engine)];
      const [mine, other] = await Promise.all([
        startPhone(CODECS.PCMU, tone(8000, 1000, 8000)),
        startPhone(CODECS.PCMU, tone(8000, 1000, 8000)),
      ]);
      await connect(doomed, mine, CODECS.PCMU);
      await connect(spared, other, CODECS.PCMU);
      await spared.startStream(target('echo:'));
      const path = join(tempDir(), 'call.wav');
      await doomed.startRecording({ path });
      mine.sendTo(doomed.rtpPort);
      other.sendTo(spared.rtpPort);
      // One second is in the file.
      await expect.poll(() => statSync(path).size).toBeGreaterThan(SECOND_OF_RECORDING_BYTES);
      const lost: string[] = [];
      doomed.events.on('lost', ({ reason }) => lost.push(reason));
      spared.events.on('lost', ({ reason }) => lost.push(reason));
      const isFirst = doomed.startStream(target(how));
      if (how === 'crash:') await expect(isFirst).rejects.toMatchObject({ code: 'media_lost' });
      else await isFirst.catch(() => {});
      await expect.poll(() => lost.length).toBe(1);
      expect(troubles).toMatchObject([{ kind: 'thread_lost', sessions: 1 }]);
      const report = await doomed.close();
      expect(report).toMatchObject({ packetsSent: 0, recording: { path, lengthBytes: statSync(path).size } });
      expect(report.recording?.error).toBeUndefined();
      expect(report.recording?.durationMs).toBeGreaterThanOrEqual(1000);
      expect(parseWav(readFileSync(path)).samples.length).toBeGreaterThanOrEqual(16_000);

      const before = other.received.length;
      await expect.poll(() => other.received.length - before).toBeGreaterThan(8);
      expect(lost.length).toBe(1);
      await expect.poll(async () => (await engine.statistics()).length).toBe(2);
      const again = await open(engine);
      expect((await engine.statistics()).map(({ sessions }) => sessions).sort()).toEqual([1, 1]);
      await again.close();
    },
  );

  it('closes its sessions with itself', async () => {
    const { engine } = await startEngine();
    const session = await open(engine);
    await engine.close();
    expect(engine.sessions).toBe(0);
    expect(await session.close()).toMatchObject({ packetsSent: 0 });
    await expect(open(engine)).rejects.toMatchObject({ code: 'media_unavailable' });
  });

  it('a thread that has recorded ends without being terminated', async () => {
    const { engine, exitCodes } = await startEngine();
    const session = await open(engine);
    await connect(session, await startPhone(CODECS.PCMU, new Int16Array(160)), CODECS.PCMU);
    await session.startRecording({ path: join(tempDir(), 'call.wav') });
    await engine.close();
    expect(exitCodes).toEqual([0]);
  });

  it('keeps calls intact during a flood of packets', async () => {
    const { engine } = await startEngine();
    const [attacked, quiet] = [await open(engine), await open(engine)];
    const [victim, other, attacker] = [
      await startPhone(CODECS.PCMU, tone(8000, 1000, 8000)),
      await startPhone(CODECS.PCMU, tone(8000, 1000, 8000)),
      await startPhone(CODECS.PCMU, tone(8000, 300, 8000)),
    ];
    for (const [session, phone] of [
      [attacked, victim],
      [quiet, other],
    ] as const) {
      await connect(session, phone, CODECS.PCMU);
      await session.startStream(target('echo:'));
      phone.sendTo(session.rtpPort);
    }
    const hearTone = (sinceMs: readonly number[]) =>
      expect
        .poll(
          () =>
            [victim, other].every((phone, n) => toneMs(heardBy(phone), 8000, 1000) > (sinceMs[n] ?? 0) + 300),
          { interval: 100 },
        )
        .toBe(true);
    await hearTone([0, 0]);
    for (let burst = 0; burst < 40; burst++) {
      for (let n = 0; n < 100; n++) {
        attacker.send(attacker.phone.next(), attacked.rtpPort);
        attacker.send(new Uint8Array(50), attacked.rtpPort + 1);
      }
      await sleep(5);
    }
    await hearTone([victim, other].map((phone) => toneMs(heardBy(phone), 8000, 1000)));
    for (const { counters, packetsSent } of [await attacked.close(), await quiet.close()]) {
      // Packets of skipped ticks are missing.
      expect(packetsSent).toBeLessThanOrEqual(counters?.packetsDue ?? 0);
      expect(counters).toMatchObject({ malformedPackets: 0, unknownPayloadTypes: 0 });
    }
    for (const phone of [victim, other]) expect(framesOf(heardBy(phone), 300)).toBe(0);
  });
});

describe('A media thread that hangs', () => {
  it('is terminated after a minute of its watch, however little it has run, and replaced', async () => {
    const { createSimulatedClock } = await import('../../support/simulatedClock.ts');
    const clock = createSimulatedClock();
    const troubles: MediaFault[] = [];
    const engine = await startMediaEngine({
      clock,
      startThread: startEchoThread,
      threads: 1,
      ports: PORTS,
      address: '127.0.0.1',
      publicAddress: '203.0.113.5',
      onFault: (trouble) => troubles.push(trouble),
    });
    onTestFinished(() => engine.close());
    const session = await open(engine);
    expect(session.address).toBe('203.0.113.5');
    const phone = await startPhone(CODECS.PCMU, tone(8000, 1000, 8000));
    await connect(session, phone, CODECS.PCMU);
    const stuck = session.startStream(target('stall:'));
    const refused = expect(stuck).rejects.toMatchObject({ code: 'media_lost' });
    clock.advance(60_000);
    expect(troubles).toEqual([]);
    clock.advance(5000);
    expect(troubles).toMatchObject([{ kind: 'thread_lost', reason: 'the media thread does not answer' }]);
    await refused;
    expect((await engine.statistics()).length).toBe(1);
  });
});
