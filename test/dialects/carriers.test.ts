import { describe, expect, test } from 'vitest';

import type { ClientDialect } from '../../src/dialects/dialect.ts';
import { exotel } from '../../src/dialects/exotel.ts';
import { plivo } from '../../src/dialects/plivo.ts';
import { telnyx } from '../../src/dialects/telnyx.ts';
import { vonage } from '../../src/dialects/vonage.ts';
import { openClient, openServer } from './support/ends.ts';

const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64');
/** Code words of zero and of both ends of the range (G.711 table 2), and their samples. */
const MU_LAW = base64(0xff, 0x80, 0x00);
const MU_LAW_SAMPLES = [0, 32_124, -32_124];
/** 20 ms of silence in µ-law at 8 kHz. */
const MU_LAW_FRAME = base64(...new Array<number>(160).fill(0xff));
const POSITION = { playedSamples: 1, receivedSamples: 2, bufferDelayMs: 3 };
const frame = (samples: number) => new Int16Array(samples);

/** The messages of a carrier and their meaning to our agent; what our agent sends to it. */
interface ServerCase {
  readonly dialect: ClientDialect;
  readonly start: object;
  readonly started: object;
  readonly refused: readonly (readonly [start: object, reason: RegExp])[];
  readonly read: readonly (readonly [message: object | string, ...calls: unknown[]])[];
  /** After 20 ms of silence, a mark, a clear, digits and a hangup. */
  readonly sent: readonly unknown[];
}

const telnyxStart = (encoding: string, sample_rate: number) => ({
  event: 'start',
  sequence_number: '1',
  stream_id: 'S1',
  start: {
    user_id: 'U1',
    call_control_id: 'v2:1',
    call_session_id: 'C1',
    from: '+13122010094',
    to: '+13122123456',
    custom_parameters: { customer_id: '123' },
    media_format: { encoding, sample_rate, channels: 1 },
  },
});
const plivoStart = (encoding: string, sampleRate: number) => ({
  event: 'start',
  sequenceNumber: 1,
  start: {
    callId: 'C1',
    streamId: 'S1',
    accountId: 'MA1',
    tracks: ['inbound'],
    mediaFormat: { encoding, sampleRate },
  },
  extra_headers: 'userId=12345;name=a-b',
});
const exotelStart = (encoding: string, sample_rate: string) => ({
  event: 'start',
  sequence_number: '1',
  stream_sid: 'S1',
  start: {
    stream_sid: 'S1',
    call_sid: 'C1',
    account_sid: 'AC1',
    from: '+919876543210',
    to: '+918047491899',
    custom_parameters: { key1: 'value1' },
    media_format: { encoding, sample_rate, bit_rate: '16' },
  },
});
const vonageStart = (contentType: string) => ({
  event: 'websocket:connected',
  'content-type': contentType,
  prop1: 'value1',
});

const SERVERS: Readonly<Record<string, ServerCase>> = {
  telnyx: {
    dialect: telnyx,
    start: telnyxStart('PCMU', 8000),
    started: { sampleRateHz: 8000, customParameters: { customer_id: '123' } },
    refused: [
      [telnyxStart('OPUS', 16_000), /PCMU or PCMA/],
      [telnyxStart('PCMU', 16_000), /8000 Hz/],
      [
        {
          ...telnyxStart('PCMU', 8000),
          start: { ...telnyxStart('PCMU', 8000).start, custom_parameters: { bidirectionalCodec: 'OPUS' } },
        },
        /PCMU or PCMA/,
      ],
    ],
    read: [
      [{ event: 'connected', version: '1.0.0' }],
      [
        { event: 'media', media: { track: 'inbound', chunk: '1', timestamp: '5', payload: MU_LAW } },
        ['audio', ...MU_LAW_SAMPLES],
      ],
      [{ event: 'media', media: { track: 'outbound', chunk: '2', payload: MU_LAW } }, ['malformed']],
      [
        { event: 'dtmf', stream_id: 'S1', occurred_at: 'T', sequence_number: '5', dtmf: { digit: '1' } },
        ['dtmf', '1'],
      ],
      [{ event: 'mark', sequence_number: '6', mark: { name: 'm' } }, ['mark', 'm', undefined]],
      [{ event: 'error', payload: { code: 100002, title: 'unknown_error' } }],
      [{ event: 'stop', sequence_number: '7', stop: { user_id: 'U1' } }, ['stopped']],
    ],
    sent: [
      { event: 'media', media: { payload: MU_LAW_FRAME } },
      { event: 'mark', mark: { name: 'm' } },
      { event: 'clear' },
    ],
  },
  plivo: {
    dialect: plivo,
    start: plivoStart('audio/x-mulaw', 8000),
    started: { sampleRateHz: 8000, customParameters: { userId: '12345', name: 'a-b' } },
    refused: [
      [plivoStart('audio/x-mulaw', 16_000), /audio\/x-mulaw;rate=8000/],
      [plivoStart('audio/x-alaw', 8000), /content type/],
    ],
    read: [
      [
        {
          event: 'media',
          media: { track: 'inbound', chunk: 1, timestamp: '1700000000000', payload: MU_LAW },
        },
        ['audio', ...MU_LAW_SAMPLES],
      ],
      [{ event: 'dtmf', dtmf: { track: 'inbound', digit: '#', timestamp: '1' } }, ['dtmf', '#']],
      [{ event: 'playedStream', streamId: 'S1', name: 'm' }, ['mark', 'm', undefined]],
      [{ event: 'clearedAudio', streamId: 'S1' }],
    ],
    sent: [
      {
        event: 'playAudio',
        media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: MU_LAW_FRAME },
      },
      { event: 'checkpoint', streamId: 'S1', name: 'm' },
      { event: 'clearAudio', streamId: 'S1' },
      { event: 'sendDTMF', dtmf: '12' },
    ],
  },
  exotel: {
    dialect: exotel,
    start: exotelStart('audio/x-raw', '8000'),
    started: { sampleRateHz: 8000, customParameters: { key1: 'value1' } },
    refused: [[exotelStart('audio/x-raw', '11025'), /8000, 16000 or 24000/]],
    read: [
      [{ event: 'connected' }],
      // 1 and -2 as 16-bit little-endian samples.
      [{ event: 'media', media: { chunk: '2', timestamp: '200', payload: 'AQD+/w==' } }, ['audio', 1, -2]],
      [{ event: 'dtmf', dtmf: { digit: '5', duration: '100' } }, ['dtmf', '5']],
      [{ event: 'mark', mark: { name: 'm' } }, ['mark', 'm', undefined]],
      [{ event: 'stop', stop: { call_sid: 'C1', account_sid: 'AC1' } }, ['stopped']],
    ],
    sent: [
      { event: 'media', stream_sid: 'S1', media: { payload: base64(...new Array<number>(320).fill(0)) } },
      { event: 'mark', stream_sid: 'S1', mark: { name: 'm' } },
      { event: 'clear', stream_sid: 'S1' },
    ],
  },
  vonage: {
    dialect: vonage,
    start: vonageStart('audio/l16;rate=8000'),
    started: { sampleRateHz: 8000, customParameters: { prop1: 'value1' } },
    refused: [
      [vonageStart('audio/l16;rate=44100'), /content-type/],
      [vonageStart('audio/x-mulaw;rate=8000'), /content-type/],
    ],
    read: [
      [Uint8Array.of(1, 0, 0xfe, 0xff), ['audio', 1, -2]],
      [{ event: 'websocket:dtmf', digit: '5', duration: 260 }, ['dtmf', '5']],
      [{ event: 'websocket:notify', payload: { name: 'm' } }, ['mark', 'm', undefined]],
      [{ event: 'websocket:cleared' }],
      [{ event: 'websocket:notify', payload: {} }, ['malformed']],
    ],
    sent: [new Array<number>(320).fill(0), { action: 'notify', payload: { name: 'm' } }, { action: 'clear' }],
  },
};
const serverCases = Object.entries(SERVERS).map(([name, each]) => [name, each] as const);

describe.each(serverCases)('Server of %s', (_name, { dialect, start, started, refused, read, sent }) => {
  test('reads the start message', () => {
    expect(openServer(dialect, {}).server.readStart(JSON.stringify(start))).toMatchObject(started);
    expect(openServer(dialect, {}).server.readStart('{"event":"connected"}')).toBeUndefined();
  });

  test.each(refused)('refuses %j', (message, reason) => {
    expect(openServer(dialect, {}).server.readStart(JSON.stringify(message))).toMatch(reason);
  });

  test('reads every message of the carrier', () => {
    const end = openServer(dialect, start);
    for (const [message, ...calls] of read) expect(end.read(message)).toEqual(calls);
    for (const message of ['', '{', '[]', { event: 'dance' }, { event: 'dtmf', dtmf: { digit: 'x' } }]) {
      expect(end.read(message)).toEqual([['malformed']]);
    }
  });

  test('writes audio, marks, clears and digits, and closes to hang up', () => {
    const end = openServer(dialect, start);
    end.server.play(frame(160));
    end.server.mark('m');
    end.server.clear();
    end.server.command({ kind: 'send_dtmf', digits: '12' });
    end.server.command({ kind: 'transfer', to: '+1' });
    expect(end.sent).toEqual(sent);
    end.server.command({ kind: 'hangup' });
    expect(end.closes).toEqual(['hangup']);
  });
});

/** What our gateway sends in the role of the carrier, and what it reads from a bot. */
interface ClientCase {
  readonly dialect: ClientDialect;
  readonly sampleRateHz: number;
  readonly opening: readonly unknown[];
  readonly audio: readonly [samples: number[], message: unknown];
  readonly dtmf: unknown;
  readonly played: unknown;
  /** What follows a cleared mark and its clear. */
  readonly cleared: readonly unknown[];
  readonly stopped: readonly unknown[];
  readonly read: readonly (readonly [message: object | string, ...calls: unknown[]])[];
}

const CLIENTS: Readonly<Record<string, ClientCase>> = {
  telnyx: {
    dialect: telnyx,
    sampleRateHz: 8000,
    opening: [
      { event: 'connected', version: '1.0.0' },
      {
        event: 'start',
        sequence_number: '1',
        stream_id: 'MZ1',
        start: {
          user_id: 'callway',
          call_control_id: 'CA1',
          from: '',
          to: '',
          custom_parameters: { name: 'Ada' },
          media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 },
        },
      },
    ],
    audio: [
      MU_LAW_SAMPLES,
      {
        event: 'media',
        sequence_number: '2',
        stream_id: 'MZ1',
        media: { track: 'inbound', chunk: '1', timestamp: '20', payload: MU_LAW },
      },
    ],
    dtmf: { event: 'dtmf', sequence_number: '3', stream_id: 'MZ1', dtmf: { digit: '5' } },
    played: { event: 'mark', sequence_number: '4', stream_id: 'MZ1', mark: { name: 'm' } },
    cleared: [{ event: 'mark', sequence_number: '5', stream_id: 'MZ1', mark: { name: 'c' } }],
    stopped: [
      {
        event: 'stop',
        sequence_number: '6',
        stream_id: 'MZ1',
        stop: { user_id: 'callway', call_control_id: 'CA1' },
      },
    ],
    read: [
      [{ event: 'media', media: { payload: MU_LAW } }, ['audio', ...MU_LAW_SAMPLES]],
      [{ event: 'mark', mark: { name: 'm' } }, ['mark', 'm']],
      [{ event: 'clear' }, ['clear']],
    ],
  },
  plivo: {
    dialect: plivo,
    sampleRateHz: 8000,
    opening: [
      {
        event: 'start',
        sequenceNumber: 1,
        start: {
          callId: 'CA1',
          streamId: 'MZ1',
          accountId: 'callway',
          tracks: ['inbound'],
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
        },
        extra_headers: 'name=Ada',
      },
    ],
    audio: [
      MU_LAW_SAMPLES,
      {
        event: 'media',
        sequenceNumber: 2,
        streamId: 'MZ1',
        media: { track: 'inbound', timestamp: expect.stringMatching(/^\d{13}$/), chunk: 1, payload: MU_LAW },
        extra_headers: 'name=Ada',
      },
    ],
    dtmf: {
      event: 'dtmf',
      sequenceNumber: 3,
      streamId: 'MZ1',
      dtmf: { track: 'inbound', digit: '5', timestamp: expect.stringMatching(/^\d{13}$/) },
    },
    played: { event: 'playedStream', sequenceNumber: 4, streamId: 'MZ1', name: 'm' },
    cleared: [{ event: 'clearedAudio', sequenceNumber: 5, streamId: 'MZ1' }],
    stopped: [],
    read: [
      [
        { event: 'playAudio', media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: MU_LAW } },
        ['audio', ...MU_LAW_SAMPLES],
      ],
      [{ event: 'checkpoint', streamId: 'MZ1', name: 'm' }, ['mark', 'm']],
      [{ event: 'clearAudio', streamId: 'MZ1' }, ['clear']],
      [{ event: 'sendDTMF', dtmf: '12#' }, ['command', { kind: 'send_dtmf', digits: '12#' }]],
    ],
  },
  exotel: {
    dialect: exotel,
    sampleRateHz: 8000,
    opening: [
      { event: 'connected' },
      {
        event: 'start',
        sequence_number: '1',
        stream_sid: 'MZ1',
        start: {
          stream_sid: 'MZ1',
          call_sid: 'CA1',
          account_sid: 'callway',
          from: '',
          to: '',
          custom_parameters: { name: 'Ada' },
          media_format: { encoding: 'audio/x-raw', sample_rate: '8000', bit_rate: '16' },
        },
      },
    ],
    audio: [
      [1, -2],
      {
        event: 'media',
        sequence_number: '2',
        stream_sid: 'MZ1',
        media: { chunk: '1', timestamp: '20', payload: 'AQD+/w==' },
      },
    ],
    dtmf: { event: 'dtmf', sequence_number: '3', stream_sid: 'MZ1', dtmf: { digit: '5', duration: '100' } },
    played: { event: 'mark', sequence_number: '4', stream_sid: 'MZ1', mark: { name: 'm' } },
    cleared: [{ event: 'mark', sequence_number: '5', stream_sid: 'MZ1', mark: { name: 'c' } }],
    stopped: [
      {
        event: 'stop',
        sequence_number: '6',
        stream_sid: 'MZ1',
        stop: { call_sid: 'CA1', account_sid: 'callway' },
      },
    ],
    read: [
      [{ event: 'media', stream_sid: 'MZ1', media: { payload: 'AQD+/w==' } }, ['audio', 1, -2]],
      [{ event: 'mark', stream_sid: 'MZ1', mark: { name: 'm' } }, ['mark', 'm']],
      [{ event: 'clear', stream_sid: 'MZ1' }, ['clear']],
    ],
  },
  vonage: {
    dialect: vonage,
    sampleRateHz: 16_000,
    opening: [{ name: 'Ada', event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000' }],
    audio: [
      [1, -2],
      [1, 0, 0xfe, 0xff],
    ],
    dtmf: { event: 'websocket:dtmf', digit: '5', duration: 100 },
    played: { event: 'websocket:notify', payload: { name: 'm' } },
    cleared: [{ event: 'websocket:cleared' }],
    stopped: [],
    read: [
      [Uint8Array.of(1, 0, 0xfe, 0xff), ['audio', 1, -2]],
      [{ action: 'notify', payload: { any: [1] } }, ['mark', '{"any":[1]}']],
      [{ action: 'clear' }, ['clear']],
      [{ action: 'notify' }, ['malformed']],
    ],
  },
};
const clientCases = Object.entries(CLIENTS).map(([name, each]) => [name, each] as const);

describe.each(clientCases)('Client of %s', (name, expected) => {
  const { dialect, sampleRateHz, audio, read } = expected;

  test('writes the messages of the carrier', () => {
    const { client, sent } = openClient(dialect, 8000);
    expect(client.sampleRateHz).toBe(sampleRateHz);
    expect(sent.splice(0)).toEqual(expected.opening);
    client.audio(Int16Array.from(audio[0]), sampleRateHz / 50);
    expect(sent.splice(0)).toEqual([audio[1]]);
    client.dtmf('5', 100);
    expect(sent.splice(0)).toEqual([expected.dtmf]);
    const markName = (mark: string) => (name === 'vonage' ? JSON.stringify({ name: mark }) : mark);
    client.mark({ name: markName('m'), outcome: 'played', ...POSITION });
    expect(sent.splice(0)).toEqual([expected.played]);
    client.mark({ name: markName('c'), outcome: 'cleared', ...POSITION });
    client.cleared?.(POSITION);
    expect(sent.splice(0)).toEqual(expected.cleared);
    client.stop();
    expect(sent.splice(0)).toEqual(expected.stopped);
  });

  test('reads every message of a bot', () => {
    const end = openClient(dialect, 8000);
    for (const [message, ...calls] of read) expect(end.read(message)).toEqual(calls);
    expect(end.read({ event: 'dance' })).toEqual([['malformed']]);
  });
});

test('Telnyx’s codecs are read and written in their byte order', () => {
  const codecs: readonly (readonly [string, string, readonly number[]])[] = [
    // A-law code words of 8 and -8 (G.711 table 1).
    ['PCMA', base64(0xd5, 0x55), [8, -8]],
    // 258 and -2 in network byte order.
    ['L16', base64(0x01, 0x02, 0xff, 0xfe), [258, -2]],
  ];
  for (const [encoding, payload, samples] of codecs) {
    const end = openServer(telnyx, telnyxStart(encoding, 8000));
    expect(end.read({ event: 'media', media: { payload } })).toEqual([['audio', ...samples]]);
    end.server.play(Int16Array.from({ length: 160 }, (_, index) => samples[index % 2] ?? 0));
    const [sent] = end.sent as { media: { payload: string } }[];
    expect(Buffer.from(sent?.media.payload ?? '', 'base64').subarray(0, 4)).toEqual(
      Buffer.from(encoding === 'L16' ? payload : base64(0xd5, 0x55, 0xd5, 0x55), 'base64'),
    );
  }
});

test.each([
  [{ stream_bidirectional_codec: 'PCMU' }, 'PCMA', 8000, 160],
  [{ bidirectionalCodec: 'L16', bidirectionalSamplingRate: '16000' }, 'PCMU', 8000, 640],
  [{ stream_bidirectional_codec: 'PCMU' }, 'L16', 16_000, 160],
])(
  'Telnyx plays the codec that %j names, while the caller’s is %s',
  (custom_parameters, encoding, rate, bytes) => {
    const start = telnyxStart(encoding, rate);
    const end = openServer(telnyx, { ...start, start: { ...start.start, custom_parameters } });
    const payload = base64(0xd5, 0x55);
    expect(end.read({ event: 'media', media: { payload } })).toHaveLength(1);
    end.server.play(new Int16Array(rate / 50).fill(1000));
    const [sent] = end.sent as { media: { payload: string } }[];
    expect(Buffer.from(sent?.media.payload ?? '', 'base64').length).toBe(bytes);
  },
);

test('Telnyx’s chunks are put into order, and a lost one is not waited for longer than five', () => {
  const end = openServer(telnyx, telnyxStart('L16', 8000));
  const chunk = (number: number) => ({
    event: 'media',
    media: { chunk: String(number), payload: base64(0, number) },
  });
  const order = (...numbers: number[]) =>
    end.read(...numbers.map(chunk)).map((call) => (call as number[])[1]);
  expect(order(1, 3, 2, 2, 4)).toEqual([1, 2, 3, 4]);
  expect(order(6, 7, 8, 9, 10)).toEqual([]);
  expect(order(11, 5, 12)).toEqual([6, 7, 8, 9, 10, 11, 12]);
});

test('Plivo’s parameters that it could not carry are left out', () => {
  const customParameters = { a: '1', b: 'x;y', c: '2', d: 'z'.repeat(600) };
  const { sent } = openClient(plivo, 8000, { customParameters });
  expect(sent[0]).toMatchObject({ extra_headers: 'a=1;c=2' });
});
