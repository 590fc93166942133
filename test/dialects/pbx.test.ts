import { describe, expect, test } from 'vitest';

import { asteriskWebSocket } from '../../src/dialects/asteriskWebSocket.ts';
import { audiosocket, readUuid } from '../../src/dialects/audiosocket.ts';
import { freeswitch } from '../../src/dialects/freeswitch.ts';
import { jambonz } from '../../src/dialects/jambonz.ts';
import { openClient, openServer } from './support/ends.ts';

const POSITION = { playedSamples: 1, receivedSamples: 2, bufferDelayMs: 3 };
/** 1 and -2 as 16-bit little-endian samples. */
const AUDIO = Uint8Array.of(1, 0, 0xfe, 0xff);
const frame = (samples: number) => new Int16Array(samples);

const CLIENT_TARGET = {
  url: 'ws://a',
  dialect: 'asterisk-websocket',
  streamId: '01a1fd43-0001-7000-8000-0000000000ff',
  callId: 'CA1',
  customParameters: {},
  canReconnect: false,
} as const;

describe.each([
  ['jambonz', jambonz],
  ['FreeSWITCH', freeswitch],
] as const)('Server of %s', (_name, dialect) => {
  const start = { sampleRate: 16_000, mixType: 'mono', call_sid: 'C1', from: '+1', nested: {} };

  test('reads the metadata, and refuses what it cannot serve', () => {
    const readStart = (metadata: object) =>
      openServer(dialect, {}).server.readStart(JSON.stringify(metadata));
    expect(readStart(start)).toEqual({
      sampleRateHz: 16_000,
      customParameters: { call_sid: 'C1', from: '+1' },
    });
    expect(readStart({})).toMatchObject({ sampleRateHz: 8000 });
    expect(readStart({ sampleRate: 64_000 })).toMatch(/sampleRate/);
    expect(readStart({ mixType: 'stereo' })).toMatch(/mono/);
  });

  test('reads every message', () => {
    const end = openServer(dialect, start);
    expect(end.read(start)).toEqual([]);
    expect(end.read(AUDIO)).toEqual([['audio', 1, -2]]);
    expect(end.read({ event: 'dtmf', dtmf: '5', duration: 800 })).toEqual([['dtmf', '5']]);
    expect(end.read({ type: 'mark', data: { name: 'm', event: 'playout' } })).toEqual([
      ['mark', 'm', { outcome: 'played' }],
    ]);
    expect(end.read({ type: 'mark', data: { name: 'm', event: 'cleared' } })).toEqual([
      ['mark', 'm', { outcome: 'cleared' }],
    ]);
    expect(end.read({ type: 'playDone', data: { id: '1' } })).toEqual([]);
    expect(end.read('{', { type: 'dance' })).toEqual([['malformed'], ['malformed']]);
  });

  test('writes no sample of -1, which the module takes for a mark', () => {
    const end = openServer(dialect, start);
    const samples = Int16Array.of(1, -1, -2);
    end.server.play(samples);
    expect([end.sent, [...samples]]).toEqual([[[1, 0, 0, 0, 0xfe, 0xff]], [1, -1, -2]]);
  });

  test('writes audio, marks and clears, and ends the verb to hang up', () => {
    const end = openServer(dialect, start);
    end.server.play(Int16Array.of(1, -2));
    end.server.mark('m');
    end.server.clear();
    end.server.command({ kind: 'hangup' });
    expect(end.sent).toEqual([
      [...AUDIO],
      { type: 'mark', data: { name: 'm' } },
      { type: 'killAudio' },
      { type: 'disconnect' },
    ]);
    expect(end.closes).toEqual(['hangup']);
  });
});

test('FreeSWITCH may send no metadata: its audio has 8 kHz then', () => {
  const end = openServer(freeswitch, {});
  expect(end.server.readStart(AUDIO)).toEqual({ sampleRateHz: 8000, customParameters: {} });
  expect(end.read(AUDIO)).toEqual([['audio', 1, -2]]);
  expect(openServer(jambonz, {}).server.readStart(AUDIO)).toBeUndefined();
});

test('Client of jambonz writes its messages and reads those of a bot', () => {
  const end = openClient(jambonz, 16_000, { customParameters: { fromNumber: '+1', name: 'Ada' } });
  end.client.audio(Int16Array.of(1, -2), 0);
  end.client.dtmf('5', 100);
  end.client.mark({ name: 'm', outcome: 'played', ...POSITION });
  end.client.mark({ name: 'n', outcome: 'cleared', ...POSITION });
  expect(end.sent).toEqual([
    { fromNumber: '+1', name: 'Ada', sampleRate: 16_000, mixType: 'mono', call_sid: 'CA1', from: '+1' },
    [...AUDIO],
    { event: 'dtmf', dtmf: '5', duration: 800 },
    { type: 'mark', data: { name: 'm', event: 'playout' } },
    { type: 'mark', data: { name: 'n', event: 'cleared' } },
  ]);
  expect(
    end.read(AUDIO, { type: 'mark', data: { name: 'm' } }, { type: 'killAudio' }, { type: 'disconnect' }),
  ).toEqual([['audio', 1, -2], ['mark', 'm'], ['clear'], ['command', { kind: 'hangup' }]]);
  expect(end.read({ type: 'playAudio', data: {} }, 'x')).toEqual([['malformed'], ['malformed']]);
});

const PLAIN =
  'MEDIA_START connection_id:c1 channel:WebSocket/c1/0x1 channel_id:1.2 format:ulaw optimal_frame_size:160 ptime:20';
const JSON_START = {
  event: 'MEDIA_START',
  connection_id: 'c1',
  channel: 'WebSocket/c1/0x1',
  channel_id: '1.2',
  format: 'slin16',
  optimal_frame_size: 640,
  ptime: 20,
  channel_variables: { CAMPAIGN: 'spring' },
};

describe('Asterisk’s chan_websocket', () => {
  test.each([
    [PLAIN, { sampleRateHz: 8000, customParameters: {} }],
    [JSON.stringify(JSON_START), { sampleRateHz: 16_000, customParameters: { CAMPAIGN: 'spring' } }],
    [PLAIN.replace('ulaw', 'opus').replace('160', '0'), /codec must be one of ulaw/],
    [PLAIN.replace('ulaw', 'slin').replace('160', '321'), /whole samples/],
    [PLAIN.replace('160', '65501'), /1 to 65500 bytes/],
    [PLAIN.concat(' '.repeat(4096)), undefined],
    ['DTMF_END digit:1', undefined],
  ])('starts with %s', (message, start) => {
    const read = openServer(asteriskWebSocket, {}).server.readStart(message);
    if (start instanceof RegExp) expect(read).toMatch(start);
    else expect(read).toEqual(start);
  });

  test('is read in plain text and in JSON', () => {
    const end = openServer(asteriskWebSocket, {});
    end.server.readStart(PLAIN);
    // Code words of zero and of both ends of the range (G.711 table 2).
    expect(end.read(Uint8Array.of(0xff, 0x80, 0x00))).toEqual([['audio', 0, 32_124, -32_124]]);
    expect(end.read('DTMF_END digit:# channel_id:1.2')).toEqual([['dtmf', '#']]);
    expect(end.read('MEDIA_MARK_PROCESSED m')).toEqual([['mark', 'm', { outcome: 'played' }]]);
    expect(end.read('MEDIA_XOFF', 'MEDIA_XON', 'QUEUE_DRAINED', 'STATUS queue_length:43')).toEqual([]);
    expect(end.read({ event: 'DTMF_END', channel_id: '1.2', digit: '5' })).toEqual([['dtmf', '5']]);
    expect(end.read({ event: 'MEDIA_MARK_PROCESSED', correlation_id: 'm' })).toEqual([
      ['mark', 'm', { outcome: 'played' }],
    ]);
    expect(end.read('ERROR channel_id:1.2 error_text:bad', 'x', '')).toEqual([
      ['malformed'],
      ['malformed'],
      ['malformed'],
    ]);
  });

  test('gets commands in the form of its start, and no more than its queue holds', () => {
    const end = openServer(asteriskWebSocket, {});
    end.server.readStart(PLAIN);
    const lengths = () => end.sent.splice(0).map((each) => (Array.isArray(each) ? each.length : each));
    end.server.play(frame(100));
    end.server.mark('m');
    end.server.clear();
    end.server.command({ kind: 'hangup' });
    // The frame is filled to 160 bytes.
    expect(lengths()).toEqual([160, 'MARK_MEDIA m', 'FLUSH_MEDIA', 'HANGUP']);
    expect(end.closes).toEqual(['hangup']);
    end.server.play(frame(8000 * 60));
    // 15 s, in messages below 65500 bytes.
    expect(lengths()).toEqual([65_440, 54_560]);
    const json = openServer(asteriskWebSocket, JSON_START);
    json.server.mark('m');
    json.server.clear();
    expect(json.sent).toEqual([{ command: 'MARK_MEDIA', correlation_id: 'm' }, { command: 'FLUSH_MEDIA' }]);
  });

  test('is played by our gateway', () => {
    expect(openClient(asteriskWebSocket, 8000, CLIENT_TARGET).sent[0]).toMatch(
      / format:ulaw optimal_frame_size:160 ptime:20$/,
    );
    const { client, sent } = openClient(asteriskWebSocket, 16_000, CLIENT_TARGET);
    client.audio(Int16Array.of(1, -2), 0);
    client.dtmf('5', 100);
    client.mark({ name: 'MEDIA_MARK_PROCESSED m', outcome: 'played', ...POSITION });
    client.mark({ name: 'MEDIA_MARK_PROCESSED n', outcome: 'cleared', ...POSITION });
    client.mark({ name: 'QUEUE_DRAINED', outcome: 'cleared', ...POSITION });
    const id = CLIENT_TARGET.streamId;
    expect(sent).toEqual([
      `MEDIA_START connection_id:${id} channel:WebSocket/${id} channel_id:CA1 format:slin16 optimal_frame_size:640 ptime:20`,
      [...AUDIO],
      'DTMF_END digit:5 channel_id:CA1',
      'MEDIA_MARK_PROCESSED m',
      'QUEUE_DRAINED',
    ]);
  });

  test.each([
    ['MARK_MEDIA m', ['mark', 'MEDIA_MARK_PROCESSED m']],
    [{ command: 'MARK_MEDIA', correlation_id: 'm' }, ['mark', 'MEDIA_MARK_PROCESSED m']],
    ['STOP_MEDIA_BUFFERING', ['mark', 'MEDIA_BUFFERING_COMPLETED']],
    ['REPORT_QUEUE_DRAINED', ['mark', 'QUEUE_DRAINED']],
    ['FLUSH_MEDIA', ['clear']],
    ['HANGUP', ['command', { kind: 'hangup' }]],
    [`MARK_MEDIA ${'x'.repeat(101)}`, ['malformed']],
    ['DANCE', ['malformed']],
    ['HANGUP'.padEnd(4097), ['malformed']],
  ])('reads %j of a bot', (command, call) => {
    expect(openClient(asteriskWebSocket, 8000, CLIENT_TARGET).read(command)).toEqual([call]);
  });

  test('says what our gateway cannot do', () => {
    const end = openClient(asteriskWebSocket, 8000, CLIENT_TARGET);
    expect(end.read('PAUSE_MEDIA', 'START_MEDIA_BUFFERING', 'ANSWER')).toEqual([]);
    expect(end.sent.slice(1)).toEqual(['ERROR channel_id:CA1 error_text:PAUSE_MEDIA not supported']);
  });
});

/** A kind, its length in network byte order, and the payload. */
const message = (kind: number, ...payload: number[]) =>
  Uint8Array.of(kind, payload.length >> 8, payload.length & 0xff, ...payload);
/** 20 ms of silence at 8 kHz: kind 0x10, 320 bytes. */
const SILENCE = message(0x10, ...new Array<number>(320).fill(0));
const UUID_MESSAGE = message(
  0x01,
  ...[0x01, 0xa1, 0xfd, 0x43, 0x00, 0x01, 0x70, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff],
);

describe('AudioSocket', () => {
  test('starts with its first audio, which says the rate', () => {
    const { server } = openServer(audiosocket, {});
    expect(readUuid(UUID_MESSAGE)).toBe(CLIENT_TARGET.streamId);
    expect(
      [UUID_MESSAGE, message(0x03, 0x35), message(0xff, 1)].map((each) => server.readStart(each)),
    ).toEqual([undefined, undefined, undefined]);
    expect(server.readStart(SILENCE)).toEqual({ sampleRateHz: 8000, customParameters: {} });
    expect(server.readStart(message(0x12, 0, 0))).toMatchObject({ sampleRateHz: 16_000 });
    // 44.1 kHz.
    expect(server.readStart(message(0x15, 0, 0))).toMatch(/sample rate/);
  });

  test('is read, and what is no whole message of a known kind is malformed', () => {
    const end = openServer(audiosocket, {});
    end.server.readStart(SILENCE);
    expect(end.read(message(0x10, ...AUDIO))).toEqual([['audio', 1, -2]]);
    expect(end.read(message(0x03, 0x35))).toEqual([['dtmf', '5']]);
    expect(end.read(message(0x00))).toEqual([['stopped']]);
    expect(end.read(UUID_MESSAGE)).toEqual([]);
    for (const wrong of [
      message(0x10),
      message(0x12, 0, 0),
      message(0xff, 1),
      Uint8Array.of(0x10, 0, 9),
      'x',
    ]) {
      expect(end.read(wrong)).toEqual([['malformed']]);
    }
  });

  test('gets at most 120 ms ahead, four frames at a time; marks are answered in the pace of the caller, and a clear stops within it', () => {
    const end = openServer(audiosocket, {});
    end.server.readStart(SILENCE);
    end.server.play(frame(160));
    end.server.mark('begin');
    end.server.play(frame(160 * 9));
    const frames = (count: number) => Array.from({ length: count }, () => [...SILENCE]);
    expect(end.sent.splice(0)).toEqual(frames(6));
    expect(end.read(SILENCE)[0]).toEqual(['mark', 'begin', { outcome: 'played' }]);
    end.read(SILENCE, SILENCE);
    expect(end.sent.splice(0)).toEqual([]);
    end.read(SILENCE);
    expect(end.sent.splice(0)).toEqual(frames(4));
    end.server.clear();
    end.read(SILENCE, SILENCE);
    expect(end.sent).toEqual([]);
    end.server.command({ kind: 'hangup' });
    expect([end.sent, end.closes]).toEqual([[[0, 0, 0]], ['hangup']]);
  });

  test('is played by our gateway', () => {
    const { client, sent, read } = openClient(audiosocket, 16_000, CLIENT_TARGET);
    expect(client.sampleRateHz).toBe(8000);
    client.audio(Int16Array.of(1, -2), 0);
    client.dtmf('#', 100);
    client.stop();
    expect(sent).toEqual([[...UUID_MESSAGE], [0x10, 0, 4, ...AUDIO], [0x03, 0, 1, 0x23], [0x00, 0, 0]]);
    expect(read(message(0x10, ...AUDIO), message(0x00), message(0x10))).toEqual([
      ['audio', 1, -2],
      ['command', { kind: 'hangup' }],
      ['malformed'],
    ]);
  });
});
