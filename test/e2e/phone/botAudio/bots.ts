import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseTelephoneEvent } from '../../../../src/media/dtmf/event.ts';
import { CODECS, read } from '../../../media/support/callHarness.ts';
import { tone } from '../../../media/support/signals.ts';
import { callees } from '../../../scenarios/callees.ts';
import { type RtpPhone, startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { type Bot, type BotSession, type Dialect, startBot } from '../support/bot.ts';
import { startCallee } from '../support/callee.ts';
import { type Line, type PlacedCall, SLOW } from '../support/line.ts';
import { toneMs } from '../support/tones.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
const PHONE_HZ = 440;
const BOT_HZ = 1000;

/** RTP packets of DTMF events: three while the digit is pressed, three at its end. @see RFC 4733 section 2.5.1 */
function press(phone: RtpPhone, code: number, port: number): void {
  const { timestamp } = phone.phone;
  for (const [end, ticks] of [
    [0, 160],
    [0, 320],
    [0, 480],
    [0x80, 640],
    [0x80, 640],
    [0x80, 640],
  ] as const) {
    const payload = Uint8Array.of(code, end | 10, ticks >> 8, ticks & 0xff);
    phone.send(phone.phone.packet(101, payload, timestamp), port);
  }
}

/** The digits received, each once. */
function digitsSentTo({ received }: RtpPhone): number[] {
  const digits = new Map<number, number>();
  for (const { bytes } of received) {
    const packet = read(bytes);
    const event = packet.payloadType === 101 ? parseTelephoneEvent(packet.payload()) : undefined;
    if (event) digits.set(packet.timestamp, event.code);
  }
  return [...digits.values()];
}

interface BotCall {
  readonly line: Line;
  readonly call: PlacedCall;
  readonly phone: RtpPhone;
  readonly phonePort: number;
  readonly bot: Bot;
  readonly session: BotSession;
  readonly callee: Awaited<ReturnType<typeof startCallee>>;
}

/** A call answered by SIPp, with this test's phone on one side of the audio and a bot on the other. */
async function callBot(dialect: Dialect): Promise<BotCall> {
  const phone = await startRtpPhone(CODECS.PCMU, tone(8000, PHONE_HZ, 8000));
  onTestFinished(() => phone.close());
  const bot = await startBot(dialect);
  const callee = await startCallee(callees.answers, { mediaPort: phone.port });
  const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
  const call = await line.call({ media: { url: bot.url, dialect } });
  const session = await bot.nextSession();
  const phonePort = await phone.sendToSource();
  return { line, call, phone, phonePort, bot, session, callee };
}

const heardByPhone = (phone: RtpPhone) => toneMs(phone.phone.hear(phone.received), 8000, BOT_HZ);

describe.each(['twilio', 'callway'] as const)(
  'a bot that speaks %s',
  { ...requiresSipPeers, timeout: TIMEOUT },
  (dialect) => {
    test('hears the phone and is heard, receives timestamps, and ends the call', async () => {
      const { line, call, phone, session, callee } = await callBot(dialect);
      const { sampleRateHz } = session;
      expect(sampleRateHz).toBe(8000);
      const { callId, sessionId } = call;
      const told = { callId, sessionId, projectId: line.id, fromNumber: line.number, direction: 'outbound' };
      expect(session.start.customParameters).toMatchObject(told);
      expect(session.socket.protocol).toBe(dialect === 'callway' ? 'audio.callway.v1' : '');
      await vi.waitFor(
        () => expect(toneMs(session.receivedAudio(), sampleRateHz, PHONE_HZ)).toBeGreaterThan(1000),
        SLOW,
      );

      const beganMs = performance.now();
      session.sendAudio(tone(sampleRateHz, BOT_HZ, 0.6 * sampleRateHz));
      session.send({ event: 'mark', mark: { name: 'said' } });
      const mark = await session.text('mark');
      expect(performance.now() - beganMs).toBeGreaterThan(550);
      expect(mark.mark.name).toBe('said');
      await vi.waitFor(() => expect(heardByPhone(phone)).toBeGreaterThanOrEqual(560), SLOW);
      expect(heardByPhone(phone)).toBeLessThanOrEqual(620);

      session.socket.close();
      const seen = await line.waitForEnd(call);
      expect([seen.status, seen.endReason]).toEqual(['completed', 'agent_hangup']);
      expect(seen.mediaFigures.codec).toBe('PCMU');
      expect((await callee.ended).exitCode).toBe(0);
    });

    test('is silent at once after clear', async () => {
      const { line, call, phone, session } = await callBot(dialect);
      session.sendAudio(tone(session.sampleRateHz, BOT_HZ, 20 * session.sampleRateHz));
      session.send({ event: 'mark', mark: { name: 'never heard' } });
      await vi.waitFor(() => expect(heardByPhone(phone)).toBeGreaterThan(200), SLOW);
      session.send({ event: 'clear' });
      const mark = await session.text('mark');
      expect(mark.mark.name).toBe('never heard');
      // On the stream's clock, so that a slow machine makes no difference.
      if (dialect === 'callway') {
        expect(mark.mark.outcome).toBe('cleared');
        const { position } = await session.text('cleared');
        const playedMs = (position.playedSamples * 1000) / session.sampleRateHz;
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(Math.abs(heardByPhone(phone) - playedMs)).toBeLessThanOrEqual(40);
      }
      const soon = phone.received.length + 10;
      await vi.waitFor(() => expect(phone.received.length).toBeGreaterThan(soon), SLOW);
      const after = phone.phone.hear(phone.received.slice(soon));
      expect(toneMs(after, 8000, BOT_HZ)).toBe(0);
      await line.api('POST', `/calls/${call.callId}/hangup`);
      expect((await line.waitForEnd(call)).endReason).toBe('api_hangup');
      await session.text('stop');
      await session.closed;
    });

    test('receives the phone’s DTMF digits and sends its own', async () => {
      const { line, call, phone, phonePort, session } = await callBot(dialect);
      await vi.waitFor(() => expect(session.receivedAudio().length).toBeGreaterThan(1600), SLOW);
      press(phone, 5, phonePort);
      expect((await session.text('dtmf')).dtmf.digit).toBe('5');
      session.send({ event: 'dtmf', dtmf: { digits: '4#' } });
      await vi.waitFor(() => expect(digitsSentTo(phone)).toEqual([4, 11]), SLOW);
      session.socket.close(1000);
      await line.waitForEnd(call);
    });
  },
);
