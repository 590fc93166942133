import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { readPcm16, writePcm16 } from '../../../../src/media/pcm16.ts';
import { parseWav, pickChannel } from '../../../../src/media/wav.ts';
import { CODECS } from '../../../media/support/callHarness.ts';
import { tone, tonePower } from '../../../media/support/signals.ts';
import { callees } from '../../../scenarios/callees.ts';
import { record } from '../../../streams/support/socketPair.ts';
import { startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { startCallee } from '../support/callee.ts';
import { type Line, type PlacedCall, SLOW } from '../support/line.ts';
import { AMPLITUDE, soundMs, toneMs } from '../support/tones.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
const RATE_HZ = 8000;
const CALLER_HZ = 620;
const SUPERVISOR_HZ = 1400;
const SUPERVISOR_MS = 600;

async function startPhone(frequencyHz: number) {
  const phone = await startRtpPhone(CODECS.PCMU, tone(RATE_HZ, frequencyHz, RATE_HZ));
  onTestFinished(() => phone.close());
  const packets = () => phone.received.filter(({ bytes }) => bytes.length > 100 && (bytes[1] ?? 0) < 200);
  return { ...phone, heardMs: (hz: number) => audibleMs(phone.phone.hear(packets()), hz) };
}

/** How long a tone sounds, alone or among others. */
function audibleMs(samples: Int16Array, frequencyHz: number): number {
  const frames = Array.from({ length: Math.floor(samples.length / 160) }, (_, index) =>
    samples.subarray(index * 160, (index + 1) * 160),
  );
  const isAudible = (frame: Int16Array) => tonePower(frame, RATE_HZ, frequencyHz) > (AMPLITUDE / 2) ** 2;
  return frames.filter(isAudible).length * 20;
}

/** Requests of a supervisor for a call. */
async function supervisorOf(line: Line, { callId }: PlacedCall) {
  const { key } = await installation().gateway.createKey(line, { scopes: ['supervise'] });
  const post = (what: string, body?: object) => line.api('POST', `/calls/${callId}/${what}`, body, { key });
  return {
    post,
    async join(mode: string) {
      const { status, body } = await post('supervise', { mode });
      expect([mode, status]).toEqual([mode, 201]);
      const socket = new WebSocket(body.url, ['audio.callway.v1']);
      onTestFinished(() => socket.terminate());
      const recorded = record(socket);
      const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)]);
      const { start } = (await recorded.text('start')) as { start: { mediaFormat: object } };
      expect(start.mediaFormat).toMatchObject({ sampleRate: RATE_HZ, channels: 2 });
      const heard = (channel: number) => {
        const samples = recorded.messages.flatMap((message) =>
          Buffer.isBuffer(message) ? [...readPcm16(message)] : [],
        );
        return pickChannel(
          { samples: Int16Array.from(samples), channels: 2, sampleRateHz: RATE_HZ },
          channel,
        );
      };
      return {
        url: body.url as string,
        socket,
        closed,
        leftMs: (hz: number) => toneMs(heard(0), RATE_HZ, hz),
        rightMs: (hz: number) => toneMs(heard(1), RATE_HZ, hz),
        rightSoundMs: () => soundMs(heard(1), RATE_HZ),
        speak: () => socket.send(writePcm16(tone(RATE_HZ, SUPERVISOR_HZ, (RATE_HZ * SUPERVISOR_MS) / 1000))),
      };
    },
  };
}

const eventsOf = async (line: Line, { sessionId }: PlacedCall, type: string) => {
  const { events } = (await line.api('GET', `/session-history/${sessionId}`)).body;
  return (events as { type: string; data: object }[]).flatMap((one) => (one.type === type ? [one.data] : []));
};

describe('a supervisor', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('takes over from the agent and gives the call back, while another listens', async () => {
    const caller = await startPhone(CALLER_HZ);
    const callee = await startCallee(callees.answers, { mediaPort: caller.port });
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call({ detectAnsweringMachine: false });
    await line.waitForStatus(call, 'in_progress');
    await caller.sendToSource();
    const supervisor = await supervisorOf(line, call);
    const refused = await line.api('POST', `/calls/${call.callId}/supervise`, { mode: 'listen' });
    expect([refused.status, refused.body.code]).toEqual([403, 'missing_scope']);

    const listener = await supervisor.join('listen');
    await vi.waitFor(() => expect(listener.leftMs(CALLER_HZ)).toBeGreaterThan(300), SLOW);
    await vi.waitFor(() => expect(listener.rightSoundMs()).toBeGreaterThan(300), SLOW);
    listener.speak();
    const again = new WebSocket(listener.url);
    again.on('error', () => undefined);
    expect(((await once(again, 'unexpected-response'))[1] as { statusCode: number }).statusCode).toBe(401);

    const taker = await supervisor.join('takeover');
    expect((await supervisor.post('supervise', { mode: 'takeover' })).body.code).toBe('call_taken_over');
    expect((await supervisor.post('supervise', { mode: 'whisper' })).body.code).toBe('no_human_party');
    await vi.waitFor(async () => expect(await line.readCall(call)).toMatchObject({ supervisors: 2 }), SLOW);
    taker.speak();
    await vi.waitFor(() => expect(caller.heardMs(SUPERVISOR_HZ)).toBeGreaterThan(500), SLOW);
    await vi.waitFor(() => expect(listener.rightMs(SUPERVISOR_HZ)).toBeGreaterThan(500), SLOW);
    expect(taker.rightMs(SUPERVISOR_HZ)).toBe(0);
    expect(taker.leftMs(CALLER_HZ)).toBeGreaterThan(300);

    const soundBefore = listener.rightSoundMs();
    taker.socket.close(1000);
    await vi.waitFor(() => expect(listener.rightSoundMs()).toBeGreaterThan(soundBefore + 400), SLOW);
    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect(await listener.closed).toEqual([1000, 'the call has ended']);
    await line.waitForFinalized(call);
    // A listener's voice is heard nowhere.
    expect(caller.heardMs(SUPERVISOR_HZ)).toBeLessThan(SUPERVISOR_MS + 60);
    expect(await eventsOf(line, call, 'supervision')).toEqual([
      { action: 'joined', mode: 'listen' },
      { action: 'joined', mode: 'takeover' },
      { action: 'left', mode: 'takeover' },
      { action: 'left', mode: 'listen' },
    ]);
    const { recording } = await line.readCall(call);
    const wav = parseWav(new Uint8Array(await (await fetch(recording.url)).arrayBuffer()));
    expect(toneMs(pickChannel(wav, 1), RATE_HZ, SUPERVISOR_HZ)).toBeGreaterThan(500);
    const audit = await installation().gateway.api('GET', `/v1/projects/${line.id}/audit-log`);
    expect(audit.body.data).toContainEqual(
      expect.objectContaining({
        action: 'call.supervised',
        target: call.callId,
        details: { mode: 'takeover' },
      }),
    );
    expect((await callee.ended).exitCode).toBe(0);
  });
});
