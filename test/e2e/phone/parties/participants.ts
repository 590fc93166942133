import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { writePcm16 } from '../../../../src/media/pcm16.ts';
import { parseWav, pickChannel } from '../../../../src/media/wav.ts';
import { CODECS } from '../../../media/support/callHarness.ts';
import { rootMeanSquare, tone, tonePower } from '../../../media/support/signals.ts';
import { callees } from '../../../scenarios/callees.ts';
import { startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { startBot } from '../support/bot.ts';
import { startCallee } from '../support/callee.ts';
import { newNumber, SLOW } from '../support/line.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
const RATE_HZ = 8000;
const AMPLITUDE = 5000;
const CALLER_HZ = 620;
const GUEST_HZ = 1000;
const AGENT_HZ = 1500;
const WHISPER_HZ = 2100;
const ALL_HZ = [CALLER_HZ, GUEST_HZ, AGENT_HZ, WHISPER_HZ];
/** The latest half second: longer than what the jitter buffers hold. */
const LATEST = RATE_HZ / 2;

const tonesIn = (samples: Int16Array) =>
  ALL_HZ.filter((hz) => tonePower(samples, RATE_HZ, hz) > (AMPLITUDE / 4) ** 2);

/** Whether anything else sounds, such as music. */
const hasSound = (samples: Int16Array) => rootMeanSquare(samples) > 300;

/** A participant may be heard for less than a second before they are muted. */
const PART = RATE_HZ / 10;
/** Heard in any tenth of a second. */
const tonesAnywhereIn = (samples: Int16Array) => {
  const parts = Array.from({ length: Math.floor(samples.length / PART) }, (_, n) =>
    tonesIn(samples.slice(n * PART, (n + 1) * PART)),
  );
  return ALL_HZ.filter((hz) => parts.some((tones) => tones.includes(hz)));
};

async function startPhone(frequencyHz: number) {
  const phone = await startRtpPhone(CODECS.PCMU, tone(RATE_HZ, frequencyHz, RATE_HZ, AMPLITUDE));
  onTestFinished(() => phone.close());
  const audio = () => phone.received.filter(({ bytes }) => bytes.length > 100 && (bytes[1] ?? 0) < 200);
  const latest = () => phone.phone.hear(audio().slice(-LATEST / 160));
  return { ...phone, hears: () => tonesIn(latest()), hasSound: () => hasSound(latest()) };
}

describe('a participant', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('hears caller and agent, is heard by both, whispered to, muted, held, recorded, and leaves with the caller', async () => {
    const bot = await startBot('callway');
    const [caller, guest] = [await startPhone(CALLER_HZ), await startPhone(GUEST_HZ)];
    const first = await startCallee(callees.answers, { mediaPort: caller.port });
    const second = await startCallee(callees.answers, { mediaPort: guest.port });
    // The caller uses the only channel of the first trunk.
    const line = await installation().makeLine({
      trunks: [{ port: first.port, maxChannels: 1 }, { port: second.port }],
    });
    const call = await line.call({ media: { url: bot.url, dialect: 'callway' } });
    const agent = await bot.nextSession();
    await caller.sendToSource();
    await line.waitForStatus(call, 'in_progress');
    agent.sendAudio(tone(RATE_HZ, AGENT_HZ, RATE_HZ * 60, AMPLITUDE));

    const path = `/calls/${call.callId}/participants`;
    const { key } = await installation().gateway.createKey(line, { scopes: ['supervise'] });
    const api = (method: string, more = '', body?: object) => line.api(method, path + more, body, { key });
    const to = newNumber();
    expect(await line.api('POST', path, { to })).toMatchObject({
      status: 403,
      body: { code: 'missing_scope' },
    });
    expect((await api('POST', '', { to: 'nobody' })).body.code).toBe('invalid_transfer_target');
    const added = await api('POST', '', { to });
    expect([added.status, added.body]).toMatchObject([
      201,
      { to: `+886${to.slice(1)}`, status: 'dialing', muted: false, held: false },
    ]);
    const log = await line.api('GET', '/audit-log', undefined, { key: installation().gateway.adminToken });
    expect(log.body.data[0]).toMatchObject({
      action: 'call.participant_added',
      details: { participantId: added.body.id, to: expect.not.stringContaining(to.slice(1)) },
    });
    await guest.sendToSource();
    await vi.waitFor(
      async () =>
        expect((await api('GET')).body.data).toMatchObject([{ id: added.body.id, status: 'joined' }]),
      SLOW,
    );
    const hear = () => ({
      caller: caller.hears(),
      guest: guest.hears(),
      agent: tonesIn(agent.receivedAudio().slice(-LATEST)),
    });
    await vi.waitFor(
      () =>
        expect(hear()).toEqual({
          caller: [GUEST_HZ, AGENT_HZ],
          guest: [CALLER_HZ, AGENT_HZ],
          agent: [CALLER_HZ, GUEST_HZ],
        }),
      SLOW,
    );

    const whisper = { mode: 'whisper', participantId: added.body.id };
    const ticket = await line.api('POST', `/calls/${call.callId}/supervise`, whisper, { key });
    const whisperer = new WebSocket(ticket.body.url, ['audio.callway.v1']);
    onTestFinished(() => whisperer.terminate());
    await once(whisperer, 'open');
    const whispered = tone(RATE_HZ, WHISPER_HZ, RATE_HZ, AMPLITUDE);
    for (let seconds = 0; seconds < 20; seconds++) whisperer.send(writePcm16(whispered));
    await vi.waitFor(
      () =>
        expect(hear()).toEqual({
          caller: [GUEST_HZ, AGENT_HZ],
          guest: [CALLER_HZ, AGENT_HZ, WHISPER_HZ],
          agent: [CALLER_HZ, GUEST_HZ],
        }),
      SLOW,
    );
    whisperer.close(1000);

    const change = async (body: object) => (await api('PATCH', `/${added.body.id}`, body)).body;
    expect(await change({ muted: true })).toMatchObject({ muted: true, held: false });
    await vi.waitFor(
      () => expect(hear()).toEqual({ caller: [AGENT_HZ], guest: [CALLER_HZ, AGENT_HZ], agent: [CALLER_HZ] }),
      SLOW,
    );
    expect(await change({ muted: false, held: true })).toMatchObject({ muted: false, held: true });
    await vi.waitFor(
      () => expect(hear()).toEqual({ caller: [AGENT_HZ], guest: [], agent: [CALLER_HZ] }),
      SLOW,
    );
    await vi.waitFor(() => expect(guest.hasSound()).toBe(true), SLOW);

    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect([(await first.ended).exitCode, (await second.ended).exitCode]).toEqual([0, 0]);
    await line.waitForFinalized(call);
    expect(await api('POST', '', { to })).toMatchObject({
      status: 409,
      body: { code: 'call_not_in_progress' },
    });
    for (const trunkId of line.trunkIds)
      expect((await line.api('GET', `/trunks/${trunkId}`)).body.health.channelsInUse).toBe(0);
    const { recording } = await line.readCall(call);
    const wav = parseWav(new Uint8Array(await (await fetch(recording.url)).arrayBuffer()));
    expect(tonesAnywhereIn(pickChannel(wav, 0))).toEqual([CALLER_HZ]);
    expect(tonesAnywhereIn(pickChannel(wav, 1))).toEqual([GUEST_HZ, AGENT_HZ]);
    const { events } = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
    const told = (events as { type: string; data: { action: string; reason?: string } }[])
      .filter(({ type }) => type === 'participant')
      .map(({ data: { action, reason } }) => (reason === undefined ? action : `${action}: ${reason}`));
    expect(told).toEqual(['dialing', 'joined', 'changed', 'changed', 'left: call_ended']);
  });
});
