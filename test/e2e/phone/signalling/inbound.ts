import { readdir } from 'node:fs/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CODECS } from '../../../media/support/callHarness.ts';
import { tone } from '../../../media/support/signals.ts';
import { callers } from '../../../scenarios/callers.ts';
import { runSipp, type SippRun } from '../../../sip/support/sipp.ts';
import { startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { reservePort } from '../../../support/ports.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { startBot } from '../support/bot.ts';
import { type Line, type PlacedCall, SLOW } from '../support/line.ts';
import { soundMs, toneMs } from '../support/tones.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
const CALLER_HZ = 440;

/** A line whose number takes calls from this machine. */
function inboundLine(trunk: object = {}, number: object = {}): Promise<Line> {
  return installation().makeLine({
    trunks: [{ port: 5999, inboundCidrs: ['127.0.0.1/32'], ...trunk }],
    number: { inboundEnabled: true, ...number },
  });
}

async function ring(user: string, scenario: string, more: Partial<SippRun> = {}) {
  const { sipPort } = installation();
  const remote = `127.0.0.1:${sipPort}`;
  const localPort = await reservePort();
  return { localPort, ended: runSipp({ scenario, user, remote, localPort, calls: 1, ...more }) };
}

/** The only inbound call. */
const came = (line: Line): Promise<PlacedCall> =>
  vi.waitFor(async () => {
    const { data } = (await line.api('GET', '/calls?direction=inbound')).body;
    expect(data).toHaveLength(1);
    return { callId: data[0].id, sessionId: data[0].sessionId };
  }, SLOW);

async function startPhone(says: Int16Array) {
  const phone = await startRtpPhone(CODECS.PCMU, says);
  onTestFinished(() => phone.close());
  return phone;
}

/** What explains an ended call: words in time with the recording, webhooks with their answers, the waveform. */
async function expectTimeline({ api }: Line, { callId, sessionId }: PlacedCall): Promise<void> {
  // A delivery is recorded after its response.
  const timeline = await vi.waitFor(async () => {
    const { body } = await api('GET', `/calls/${callId}/timeline`);
    expect(body.deliveries.map(({ event }: { event: string }) => event).sort()).toEqual(
      [...ALL_EVENTS].sort(),
    );
    return body;
  }, SLOW);
  const { startedAt, durationMs } = timeline.recording;
  const [greeting] = timeline.messages;
  const saidAtMs = Date.parse(greeting.spoken.from) - Date.parse(startedAt);
  expect(saidAtMs).toBeGreaterThanOrEqual(0);
  expect(Date.parse(greeting.spoken.to) - Date.parse(startedAt)).toBeLessThanOrEqual(durationMs + 500);
  expect(timeline.deliveries[0]).toMatchObject({ ok: true, status: expect.any(Number) });
  expect((await api('GET', `/calls/${sessionId}/timeline`)).body.call.id).toBe(callId);
  const { body: peaks } = await api('GET', `/calls/${callId}/peaks`);
  expect((await api('GET', `/calls/${callId}/peaks`)).body).toEqual(peaks);
  const agent = [...Buffer.from(peaks.agent, 'base64')];
  expect(agent.length * peaks.intervalMs).toBeGreaterThanOrEqual(durationMs - peaks.intervalMs);
  const firstSoundMs = agent.findIndex((peak) => peak > 4) * peaks.intervalMs;
  expect(Math.abs(firstSoundMs - saidAtMs)).toBeLessThan(300);
  const range = await api('GET', `/calls/${callId}/audio`, undefined, {
    headers: { range: 'bytes=0-3' },
  });
  expect([range.status, range.headers.get('content-length')]).toEqual([206, '4']);
}

/** All files of the node's data folder. */
const recordingFiles = () => readdir(installation().gateway.dataDir, { recursive: true });

describe('an inbound call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('is greeted by the agent and sends all events', async () => {
    // The agent does not start to speak over a speaking caller.
    const phone = await startPhone(new Int16Array(8000));
    const line = await inboundLine();
    const caller = await ring(line.number, callers.remoteHangsUp, { mediaPort: phone.port });
    await phone.sendToSource();
    const heardMs = () => soundMs(phone.phone.hear(phone.received), 8000);
    await vi.waitFor(() => expect(heardMs()).toBeGreaterThan(500), SLOW);
    const call = await came(line);
    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect((await caller.ended).exitCode).toBe(0);
    const seen = await line.waitForEnd(call);
    expect(seen).toMatchObject({
      direction: 'inbound',
      status: 'completed',
      endReason: 'api_hangup',
      toNumber: line.number,
      trunkId: line.trunkIds[0],
    });
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    await expectTimeline(line, call);
    const [first] = installation().webhooks.forSession(call.sessionId);
    expect(first).toMatchObject({ channel: 'phone', call: { direction: 'inbound' } });
    const happened = await line.liveEvents(call);
    // How much of the greeting was heard before the hang-up may differ.
    expect(happened.filter((type) => type !== 'turn.agent')).toEqual([
      'call.ringing',
      'session.started',
      'call.answered',
      'turn.started',
      'node.entered',
      'call.ended',
      'session.ended',
      'recording.ready',
      'session.finalized',
    ]);
  });

  test.each([
    ['its number says so', {}, { record: false }],
    ['its agent says so', { recording: { inbound: false } }, {}],
  ])('leaves no recording where %s', async (_who, agent, number) => {
    const line = await inboundLine({}, number);
    await line.api('PATCH', '/agent', agent);
    const caller = await ring(line.number, callers.remoteHangsUp);
    const call = await came(line);
    await line.waitForStatus(call, 'in_progress');
    expect(await recordingFiles()).not.toContainEqual(expect.stringContaining(call.callId));
    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect((await caller.ended).exitCode).toBe(0);
    expect(await line.waitForEnd(call)).toMatchObject({ record: false, recording: null });
    const events = ALL_EVENTS.filter((event) => event !== 'recording.ready');
    expect(await line.waitForFinalized(call)).toEqual(events);
    expect(await recordingFiles()).not.toContainEqual(expect.stringContaining(call.callId));
  });

  test('is connected to the number’s own bot', async () => {
    const [phone, bot] = [await startPhone(tone(8000, CALLER_HZ, 8000)), await startBot('twilio')];
    const line = await inboundLine({}, { media: { url: bot.url, dialect: 'twilio' } });
    const caller = await ring(line.number, callers.remoteHangsUp, { mediaPort: phone.port });
    const session = await bot.nextSession();
    expect(session.start.customParameters.direction).toBe('inbound');
    await phone.sendToSource();
    await vi.waitFor(
      () => expect(toneMs(session.receivedAudio(), 8000, CALLER_HZ)).toBeGreaterThan(400),
      SLOW,
    );
    session.socket.close();
    expect((await caller.ended).exitCode).toBe(0);
    expect((await line.waitForEnd(await came(line))).endReason).toBe('agent_hangup');
  });

  test.each([
    ['of an unknown number', async () => '+886900000000'],
    [
      'of a number that takes no calls',
      async () => (await inboundLine({}, { inboundEnabled: false })).number,
    ],
  ])('to %s gets 404', async (_what, number) => {
    await inboundLine();
    const caller = await ring(await number(), callers.refused(404));
    expect((await caller.ended).exitCode).toBe(0);
  });

  test('on a trunk without a free channel gets 486', async () => {
    const line = await inboundLine({ maxChannels: 1 });
    const first = await ring(line.number, callers.remoteHangsUp);
    const call = await came(line);
    await line.waitForStatus(call, 'in_progress');
    const second = await ring(line.number, callers.refused(486));
    expect((await second.ended).exitCode).toBe(0);
    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect((await first.ended).exitCode).toBe(0);
    await line.waitForEnd(call);
    const third = await ring(line.number, callers.answered, { durationMs: 100 });
    expect((await third.ended).exitCode).toBe(0);
  });
});
