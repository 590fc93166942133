import { describe, expect, test } from 'vitest';

import type { CarrierDialectName } from '../../../src/streams/check/carrierDialects.ts';
import { checkBot } from '../../../src/streams/check/checkBot.ts';
import type { Finding } from '../../../src/streams/check/finding.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { drive, type MemorySocket, memorySockets } from '../support/memorySockets.ts';

const STREAM = '0198c3a4-7d1e-7c3b-9f00-000000000001';
const DURATION_MS = 6000;
const LOUD = 8000;

/** A bot's side of the connection; `event` is the gateway's message, or undefined for a binary one. */
type Bot = (socket: MemorySocket, event: Record<string, unknown> | undefined) => void;

async function check(
  dialect: CarrierDialectName,
  bot: Bot,
  options: { readonly isListenOnly?: boolean; readonly isDeaf?: boolean } = {},
) {
  const clock = createSimulatedClock();
  const [socket, end] = memorySockets();
  end.isDeaf = options.isDeaf === true;
  end.on('message', (data: Buffer, isBinary: boolean) =>
    bot(end, isBinary ? undefined : JSON.parse(data.toString('utf8').replace(/^[^{].*/, '{}'))),
  );
  const findings = await drive(
    clock,
    checkBot({
      dialect,
      socket,
      clock,
      target: { streamId: STREAM, customParameters: { name: 'Ada' } },
      sampleRateHz: 8000,
      durationMs: DURATION_MS,
      speech: new Int16Array(8000).fill(LOUD),
      isListenOnly: options.isListenOnly === true,
    }),
  );
  return new Map(findings.map((finding) => [finding.check, finding]));
}

const base64 = (bytes: number) => Buffer.alloc(bytes, 0x55).toString('base64');
const say = (socket: MemorySocket, message: object) => socket.send(JSON.stringify(message));
const once = (act: (socket: MemorySocket) => void): Bot => {
  let hasActed = false;
  return (socket) => {
    if (!hasActed) act(socket);
    hasActed = true;
  };
};
/** Says one message at the stream's start. */
const saying = (...messages: object[]): Bot =>
  once((socket) => {
    for (const message of messages) say(socket, message);
  });
const sendingBytes = (bytes: number): Bot => once((socket) => socket.send(new Uint8Array(bytes)));
const media = (payload: string, streamSid = STREAM) => ({ event: 'media', streamSid, media: { payload } });
const isLoud = (payload: string) => Buffer.from(payload, 'base64').some((byte) => byte !== 0xff);

/** Greets for six seconds, marks the end, and stops when the caller speaks. */
function goodBot(): Bot {
  let hasCleared = false;
  return (socket, message) => {
    if (message?.event === 'start') {
      say(socket, media(base64(48_000)));
      say(socket, { event: 'mark', streamSid: STREAM, mark: { name: 'end' } });
    }
    const { payload } = (message?.media ?? {}) as { payload?: string };
    if (payload === undefined || hasCleared || !isLoud(payload)) return;
    hasCleared = true;
    say(socket, { event: 'clear', streamSid: STREAM });
  };
}

test('A bot that does everything right passes every check', async () => {
  const found = await check('twilio', goodBot());
  expect([...found.values()].map(({ check: name, status }) => `${name} ${status}`)).toEqual([
    ...['messages pass', 'audio pass', 'formats pass', 'pacing pass', 'marks pass', 'clear pass'],
    ...['keys pass', 'hang-up skipped', 'closing pass'],
  ]);
  expect(found.get('marks')?.detail).toBe('1 sent; 1 were played or cleared');
  expect(found.get('clear')?.detail).toMatch(/^\d{2} ms after the caller began to speak$/);
});

describe('A wrong bot fails the check', () => {
  const plivoAudio = (contentType: string) =>
    saying({ event: 'playAudio', media: { contentType, sampleRate: 8000, payload: base64(160) } });
  const cases: readonly (readonly [Finding['check'], string, CarrierDialectName, Bot, RegExp])[] = [
    [
      'messages',
      'of text that is no JSON',
      'twilio',
      once((socket) => socket.send('hello')),
      /hello is no JSON/,
    ],
    ['messages', 'of an unknown event', 'twilio', saying({ event: 'hangup' }), /no event "hangup"/],
    ['messages', 'of an unknown action', 'vonage', saying({ action: 'stop' }), /cannot be read: \{"action"/],
    [
      'messages',
      'of an unknown command',
      'asterisk-websocket',
      once((socket) => socket.send('PLAY')),
      /PLAY/,
    ],
    [
      'messages',
      'of an unknown kind',
      'audiosocket',
      once((socket) => socket.send(Buffer.from([9, 0, 0]))),
      /3 bytes/,
    ],
    ['audio', 'without audio', 'twilio', () => undefined, /sent none/],
    [
      'formats',
      'without the stream’s id',
      'twilio',
      saying({ event: 'media', media: { payload: base64(160) } }),
      /streamSid of "media" is absent/,
    ],
    [
      'formats',
      'with another stream’s id',
      'twilio',
      saying(media(base64(160), 'MZ1')),
      /"MZ1", not the stream's/,
    ],
    [
      'formats',
      'with a WAV header',
      'twilio',
      saying(media(Buffer.from('RIFF....WAVE').toString('base64'))),
      /WAV header/,
    ],
    ['formats', 'with audio that is no base64', 'twilio', saying(media('%%%')), /no base64/],
    [
      'formats',
      'with messages below 20 ms',
      'telnyx',
      saying(media(base64(80))),
      /80 bytes of audio, not 160/,
    ],
    ['formats', 'with another content type', 'plivo', plivoAudio('audio/x-l16'), /audio\/x-l16 at 8000/],
    ['formats', 'with a message of another length', 'vonage', sendingBytes(320), /320 bytes, not 640/],
    [
      'formats',
      'with an uneven length',
      'exotel',
      saying({ event: 'media', stream_sid: STREAM, media: { payload: base64(500) } }),
      /no multiple of 320/,
    ],
    ['formats', 'with half a sample', 'jambonz', sendingBytes(641), /half a sample/],
    ['formats', 'with half a sample', 'freeswitch', sendingBytes(641), /half a sample/],
    ['formats', 'with half a sample', 'callway', sendingBytes(641), /half a sample/],
    [
      'formats',
      'with a message that Asterisk refuses',
      'asterisk-websocket',
      sendingBytes(65_502),
      /65502 bytes/,
    ],
    [
      'pacing',
      'that sends more than Asterisk holds',
      'asterisk-websocket',
      once((socket) => {
        for (let n = 0; n < 6; n++) socket.send(new Uint8Array(32_000));
      }),
      /24\d{3} ms ahead.* 20000 ms/,
    ],
    [
      'pacing',
      'that cannot take its audio back',
      'audiosocket',
      once((socket) => socket.send(Buffer.concat([Buffer.from([0x10, 0x7d, 0x00]), Buffer.alloc(32_000)]))),
      /2000 ms ahead.* 1000 ms/,
    ],
    [
      'marks',
      'without the stream’s id',
      'plivo',
      saying({ event: 'checkpoint', name: 'm' }),
      /streamId of "checkpoint" is absent/,
    ],
    [
      'clear',
      'that goes on while the caller speaks',
      'twilio',
      saying(media(base64(48_000))),
      /4\d{3} ms of the bot's audio were queued.*no clear/,
    ],
    [
      'keys',
      'that fails at a key',
      'twilio',
      (socket, message) => message?.event === 'dtmf' && socket.close(1011),
      /1011 after the key 5/,
    ],
    [
      'hang-up',
      'that ends its process',
      'twilio',
      once((socket) => socket.terminate()),
      /closed after \d+ ms with 1006/,
    ],
    ['closing', 'that ignores `stop`', 'callway', () => undefined, /not closed within 8000 ms/],
  ];
  test.each(cases)('%s: %s, in %s', async (name, _, dialect, bot, detail) => {
    const found = await check(dialect, bot);
    expect(found.get(name)).toEqual({ check: name, status: 'fail', detail: expect.stringMatching(detail) });
  });

  test('closing: that leaves the connection open', async () => {
    const found = await check('twilio', goodBot(), { isDeaf: true });
    expect(found.get('closing')).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/not closed/),
    });
  });
});

test('A bot that only listens needs no audio', async () => {
  const found = await check('twilio', () => undefined, { isListenOnly: true });
  expect(found.get('audio')?.status).toBe('skipped');
});

test('A bot may hang up', async () => {
  const found = await check(
    'asterisk-websocket',
    once((socket) => socket.send('HANGUP')),
  );
  expect(found.get('hang-up')).toMatchObject({ status: 'pass', detail: 'by a message of the bot' });
  const closed = await check(
    'twilio',
    once((socket) => socket.close(1000)),
  );
  expect(closed.get('hang-up')).toMatchObject({ status: 'pass', detail: expect.stringMatching(/with 1000/) });
  expect(closed.get('keys')?.status).toBe('skipped');
});
