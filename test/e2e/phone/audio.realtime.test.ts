import { describe, expect, test, vi } from 'vitest';
import { interleaveStereo, parseWav, pickChannel, wavHeader } from '../../../src/media/wav.ts';
import { tone } from '../../media/support/signals.ts';
import { type BaresipOptions, startBaresip } from '../../sip/support/baresip.ts';
import { requiresSipPeers } from '../../support/skips.ts';
import { type BotSession, startBot } from './support/bot.ts';
import { phoneInstallation } from './support/installation.ts';
import { newNumber, SLOW } from './support/line.ts';
import { toneMs } from './support/tones.ts';

const TIMEOUT = 90_000;
const installation = await phoneInstallation({ ROLES: 'api,worker,media' });
const PHONE_HZ = 440;
/** Longer than any test: baresip hangs up at the end of its file. */
const PLAY_SECONDS = 60;
/** The first half of each second is a tone. */
const ON = 0.5;

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
    await vi.waitFor(() => expect(atBotMs()).toBeGreaterThan(1500), { ...SLOW, interval: 500 });
    await line.api('POST', `/calls/${call.callId}/hangup`);
    const seen = await line.waitForEnd(call);
    expect(seen).toMatchObject({ status: 'completed', mediaFigures: { codec: codecName } });
    expect(seen.mediaFigures.packetsReceived).toBeGreaterThan(150);

    const wav = await vi.waitFor(async () => parseWav(await phone.recorded()), SLOW);
    expect(toneMs(pickChannel(wav, 0), wav.sampleRateHz, PHONE_HZ)).toBeGreaterThan(500);
  });
});
