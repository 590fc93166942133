import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseWav, pickChannel } from '../../../../src/media/wav.ts';
import { CODECS } from '../../../media/support/callHarness.ts';
import { tone } from '../../../media/support/signals.ts';
import { callees } from '../../../scenarios/callees.ts';
import { startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { startBot } from '../support/bot.ts';
import { startCallee } from '../support/callee.ts';
import { type Line, newNumber, type PlacedCall, SLOW } from '../support/line.ts';
import { soundMs, toneMs } from '../support/tones.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
const CALLER_HZ = 620;
const OTHER_HZ = 1000;
const RINGING_HZ = 440;
const RATE_HZ = 8000;

async function startPhone(frequencyHz?: number) {
  const says = frequencyHz === undefined ? new Int16Array(RATE_HZ) : tone(RATE_HZ, frequencyHz, RATE_HZ);
  const phone = await startRtpPhone(CODECS.PCMU, says);
  onTestFinished(() => phone.close());
  const heard = () =>
    phone.phone.hear(phone.received.filter(({ bytes }) => bytes.length > 100 && (bytes[1] ?? 0) < 200));
  return { ...phone, heard };
}

async function transfersOf(line: Line, { sessionId }: PlacedCall) {
  const { events } = (await line.api('GET', `/session-history/${sessionId}`)).body;
  return (events as { type: string; data: object }[])
    .filter(({ type }) => type === 'transfer')
    .map(({ data }) => data);
}

describe('a transfer', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('rings, bridges both parties, records them, and ends for both', async () => {
    const bot = await startBot('callway');
    const [caller, other] = [await startPhone(CALLER_HZ), await startPhone(OTHER_HZ)];
    const first = await startCallee(callees.rejectsRefer, { mediaPort: caller.port });
    const second = await startCallee(callees.ringsAndHangsUpLater, {
      mediaPort: other.port,
      durationMs: 2500,
    });
    // The caller uses the only channel of the first trunk.
    const line = await installation().makeLine({
      trunks: [{ port: first.port, maxChannels: 1 }, { port: second.port }],
    });
    const call = await line.call({ media: { url: bot.url, dialect: 'callway' } });
    const session = await bot.nextSession();
    await caller.sendToSource();
    await line.waitForStatus(call, 'in_progress');
    const to = newNumber();
    expect((await line.api('POST', `/calls/${call.callId}/transfer`, { to, mode: 'refer' })).status).toBe(
      202,
    );
    expect(await session.text('transfer_status')).toMatchObject({ transfer: { status: 'begun' } });
    await other.sendToSource();
    // The bot gets stop when the transfer target answers.
    expect(await session.text('stop')).toBeDefined();
    session.socket.close();
    expect((await second.ended).exitCode).toBe(0);
    expect((await first.ended).exitCode).toBe(0);
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason]).toEqual(['completed', 'transferred']);
    expect(toneMs(other.heard(), RATE_HZ, CALLER_HZ)).toBeGreaterThan(1000);
    expect(toneMs(caller.heard(), RATE_HZ, OTHER_HZ)).toBeGreaterThan(1000);

    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    const step = { to: `+886${to.slice(1)}`, mode: 'refer', by: 'second_leg' };
    expect(await transfersOf(line, call)).toEqual([
      { ...step, by: 'refer', status: 'started' },
      { ...step, status: 'started' },
      { ...step, status: 'accepted', acceptedBy: 'answer' },
      {
        ...step,
        status: 'joined',
        recording: { left: [expect.any(String)], right: [step.to], atMs: expect.any(Number) },
      },
    ]);
    const { recording } = await line.readCall(call);
    const wav = parseWav(new Uint8Array(await (await fetch(recording.url)).arrayBuffer()));
    const [left, right] = [pickChannel(wav, 0), pickChannel(wav, 1)];
    expect(toneMs(left, RATE_HZ, CALLER_HZ)).toBeGreaterThan(1000);
    expect(toneMs(right, RATE_HZ, OTHER_HZ)).toBeGreaterThan(1000);
    expect(soundMs(right, RATE_HZ) - toneMs(right, RATE_HZ, OTHER_HZ)).toBeGreaterThan(200);
    for (const trunkId of line.trunkIds)
      expect((await line.api('GET', `/trunks/${trunkId}`)).body.health.channelsInUse).toBe(0);
    expect(toneMs(left, RATE_HZ, RINGING_HZ)).toBe(0);
  });

  test('to a busy number returns the caller to the agent, which continues by the pathway', async () => {
    const caller = await startPhone();
    const first = await startCallee(callees.answers, { mediaPort: caller.port });
    const second = await startCallee(callees.refuses(486));
    const to = newNumber();
    const line = await installation().makeLine({
      trunks: [{ port: first.port, maxChannels: 1, transfer: 'second_leg' }, { port: second.port }],
      pathway: {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'Start', prompt: '' } },
          { id: 'desk', type: 'transfer', data: { title: 'Desk', prompt: '', to } },
          { id: 'sorry', type: 'say', data: { title: 'Sorry', prompt: 'Nobody is free.' } },
          { id: 'end', type: 'end', data: { title: 'End' } },
        ],
        edges: [
          { id: 'a', source: 'start', target: 'desk' },
          {
            id: 'b',
            source: 'desk',
            target: 'sorry',
            data: { condition: { event: 'transfer', outcome: 'busy' } },
          },
          { id: 'c', source: 'sorry', target: 'end' },
        ],
      },
    });
    const call = await line.call();
    await caller.sendToSource();
    expect((await second.ended).exitCode).toBe(0);
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason]).toEqual(['completed', 'agent_hangup']);
    expect((await first.ended).exitCode).toBe(0);
    await vi.waitFor(() => expect(soundMs(caller.heard(), RATE_HZ)).toBeGreaterThan(400), SLOW);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    const step = { to, mode: 'blind', by: 'second_leg' };
    expect(await transfersOf(line, call)).toEqual([
      { status: 'requested', to, nodeId: 'desk' },
      { ...step, status: 'started' },
      { ...step, status: 'failed', outcome: 'busy', reason: 'busy: 486 Refused', targetsLeft: 0 },
    ]);
  });
});
