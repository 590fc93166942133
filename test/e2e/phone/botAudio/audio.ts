import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  interleaveStereo,
  parseWav,
  pickChannel,
  WAV_HEADER_BYTES,
  wavHeader,
} from '../../../../src/media/wav.ts';
import { CODECS } from '../../../media/support/callHarness.ts';
import { tone } from '../../../media/support/signals.ts';
import { callees } from '../../../scenarios/callees.ts';
import { type BaresipOptions, startBaresip } from '../../../sip/support/baresip.ts';
import { startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { type BotSession, startBot } from '../support/bot.ts';
import { startCallee } from '../support/callee.ts';
import { newNumber, SLOW } from '../support/line.ts';
import { onsetMs, toneMs } from '../support/tones.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
const PHONE_HZ = 440;
const BOT_HZ = 1000;
const RATE_HZ = 8000;
const FRAME_MS = 20;
/** Longer than any test: baresip hangs up at the end of its file. */
const PLAY_SECONDS = 60;
/** The first half of each second is a tone. */
const ON = 0.5;
/** Of the tone. */
const HEARD_MS = 1500;

function wavOf(sampleRateHz: number, channels: 1 | 2): Uint8Array {
  const second = new Int16Array(sampleRateHz);
  second.set(tone(sampleRateHz, PHONE_HZ, ON * sampleRateHz));
  const mono = new Int16Array(PLAY_SECONDS * sampleRateHz);
  for (let at = 0; at < PLAY_SECONDS; at++) mono.set(second, at * sampleRateHz);
  const stereo = new Int16Array(channels * mono.length);
  if (channels === 2) interleaveStereo(mono, mono, stereo);
  const samples = channels === 2 ? stereo : mono;
  const header = wavHeader({ sampleRateHz, channels }, samples.byteLength);
  return Buffer.concat([header, new Uint8Array(samples.buffer)]);
}

/** A bot that echoes its input. */
function echo({ socket }: BotSession): void {
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) socket.send(data, { binary: true });
  });
}

describe.concurrent('baresip', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test.each([
    ['PCMU', 'PCMU/8000/1', 8000, 'off'],
    ['PCMA', 'PCMA/8000/1', 8000, 'off'],
    ['G722', 'G722/16000/1', 16_000, 'off'],
    ['opus', 'opus/48000/2', 16_000, 'off'],
    ['PCMU', 'PCMU/8000/1', 8000, 'required'],
    ['opus', 'opus/48000/2', 16_000, 'required'],
  ] as const)('in %s (%s, bot at %i Hz, SRTP %s) is heard, and hears its own echo', async (...row) => {
    const [codecName, codec, botRateHz, srtp] = row;
    const [, rate, channels] = codec.split('/').map(Number);
    const toNumber = newNumber();
    const options: BaresipOptions = {
      user: `+886${toNumber.slice(1)}`,
      codec,
      isEncrypted: srtp === 'required',
      plays: wavOf(rate ?? 8000, channels === 2 ? 2 : 1),
    };
    const { closeAfterTests } = installation();
    const [phone, bot] = [await startBaresip(options), await startBot('callway', closeAfterTests)];
    closeAfterTests(() => phone.close());
    const line = await installation().makeLine({ trunks: [{ port: phone.port, codecs: [codecName], srtp }] });
    const call = await line.call({ toNumber, media: { url: bot.url, dialect: 'callway' } });
    const session = await bot.nextSession();
    expect(session.sampleRateHz).toBe(botRateHz);
    echo(session);
    // On a slow machine baresip plays with gaps, so the test listens longer.
    const atBotMs = () => toneMs(session.receivedAudio(), botRateHz, PHONE_HZ);
    await vi.waitFor(() => expect(atBotMs()).toBeGreaterThan(HEARD_MS), { ...SLOW, interval: 500 });
    await line.api('POST', `/calls/${call.callId}/hangup`);
    const seen = await line.waitForEnd(call);
    expect(seen).toMatchObject({ status: 'completed', mediaFigures: { codec: codecName } });
    expect(seen.mediaFigures.packetsReceived).toBeGreaterThan(HEARD_MS / FRAME_MS);

    // baresip writes the last of it after our call has ended.
    await vi.waitFor(async () => {
      const wav = parseWav(await phone.recorded());
      expect(toneMs(pickChannel(wav, 0), wav.sampleRateHz, PHONE_HZ)).toBeGreaterThan(500);
    }, SLOW);
  });
});

describe('a recording', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('has the caller on the left and the agent on the right, aligned, and is served in ranges', async () => {
    // A second of silence first, so that the tone's start can be found in the recording.
    const says = new Int16Array(30 * RATE_HZ);
    says.set(tone(RATE_HZ, PHONE_HZ, 29 * RATE_HZ), RATE_HZ);
    const phone = await startRtpPhone(CODECS.PCMU, says);
    onTestFinished(() => phone.close());
    const bot = await startBot('callway');
    const callee = await startCallee(callees.answers, { mediaPort: phone.port });
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call({ media: { url: bot.url, dialect: 'callway' } });
    const session = await bot.nextSession();
    expect(await line.waitForStatus(call, 'in_progress')).toMatchObject({
      recording: { status: 'recording' },
    });
    await phone.sendToSource();
    await vi.waitFor(
      () => expect(toneMs(session.receivedAudio(), RATE_HZ, PHONE_HZ)).toBeGreaterThan(500),
      SLOW,
    );
    session.sendAudio(tone(RATE_HZ, BOT_HZ, RATE_HZ / 2));
    session.send({ event: 'mark', mark: { name: 'said' } });
    const { position } = (await session.text('mark')).mark;
    await line.api('POST', `/calls/${call.callId}/hangup`);
    await line.waitForEnd(call);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);

    const { recording } = await line.readCall(call);
    expect(recording).toMatchObject({ status: 'ready', error: null });
    const whole = await fetch(recording.url);
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    const bytes = new Uint8Array(await whole.arrayBuffer());
    const part = await fetch(recording.url, { headers: { range: `bytes=0-${WAV_HEADER_BYTES - 1}` } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 0-${WAV_HEADER_BYTES - 1}/${bytes.length}`);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(bytes.subarray(0, WAV_HEADER_BYTES));
    const forged = await fetch(recording.url.replace(/.$/, (last: string) => (last === 'A' ? 'Q' : 'A')));
    await forged.arrayBuffer();
    expect(forged.status).toBeGreaterThanOrEqual(400);

    const wav = parseWav(bytes);
    expect([wav.channels, wav.sampleRateHz]).toEqual([2, RATE_HZ]);
    expect(Math.abs((wav.samples.length / 2 / RATE_HZ) * 1000 - recording.durationMs)).toBeLessThanOrEqual(
      FRAME_MS,
    );
    const [left, right] = [pickChannel(wav, 0), pickChannel(wav, 1)];
    expect([toneMs(left, RATE_HZ, BOT_HZ), toneMs(right, RATE_HZ, PHONE_HZ)]).toEqual([0, 0]);
    expect(Math.abs(toneMs(right, RATE_HZ, BOT_HZ) - 500)).toBeLessThanOrEqual(FRAME_MS);
    // The mark names the caller's sample at which the agent's last one was played; the recording must agree.
    const callerAhead =
      onsetMs(left, RATE_HZ, PHONE_HZ) - onsetMs(session.receivedAudio(), RATE_HZ, PHONE_HZ);
    const agentsEnd = onsetMs(right, RATE_HZ, BOT_HZ) + 500;
    const told = (position.receivedSamples * 1000) / RATE_HZ + callerAhead;
    expect(Math.abs(agentsEnd - told)).toBeLessThanOrEqual(FRAME_MS + position.bufferDelayMs);
  });
});
