import { describe, expect, test } from 'vitest';

import { twilio } from '../../src/dialects/twilio.ts';
import { openClient, openServer } from './support/ends.ts';

const MEDIA_FORMAT = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
const START = {
  event: 'start',
  sequenceNumber: '1',
  start: {
    accountSid: 'AC1',
    streamSid: 'MZ1',
    callSid: 'CA1',
    tracks: ['inbound'],
    mediaFormat: MEDIA_FORMAT,
    customParameters: { FirstName: 'Jane', Odd: 5 },
  },
  streamSid: 'MZ1',
};
const server = () => openServer(twilio, START);
const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64');
/** Code words of zero and of both ends of the range (G.711 table 2), and their samples. */
const MU_LAW = base64(0xff, 0x80, 0x00);
const SAMPLES = [0, 32_124, -32_124];

describe('Twilio server', () => {
  const readStart = (message: object) => openServer(twilio, {}).server.readStart(JSON.stringify(message));

  test('reads the stream, its rate and the text parameters from the start message', () => {
    expect(readStart(START)).toMatchObject({
      streamId: 'MZ1',
      sampleRateHz: 8000,
      customParameters: { FirstName: 'Jane' },
    });
  });

  test('reads a start message in snake case', () => {
    const start = { media_format: { encoding: 'PCMU', sample_rate: 8000 } };
    expect(readStart({ event: 'start', stream_id: 'T1', start })).toMatchObject({ streamId: 'T1' });
  });

  test.each([
    ['another rate', { ...MEDIA_FORMAT, sampleRate: 16_000 }],
    ['another encoding', { ...MEDIA_FORMAT, encoding: 'audio/x-alaw' }],
  ])('refuses a start message with %s', (_what, mediaFormat) => {
    const reason = 'the audio must be audio/x-mulaw at 8000 Hz';
    expect(readStart({ ...START, start: { ...START.start, mediaFormat } })).toBe(reason);
  });

  test.each([
    { event: 'connected' },
    { event: 'start', start: {} },
    { event: 'media', media: { payload: MU_LAW } },
  ])('waits for the start message after %j', (message) => {
    expect(readStart(message)).toBeUndefined();
  });

  test.each([
    ['connected', { event: 'connected', protocol: 'Call', version: '1.0.0' }, []],
    ['start', START, []],
    [
      'media',
      { event: 'media', media: { track: 'inbound', chunk: '1', timestamp: '20', payload: MU_LAW } },
      [['audio', ...SAMPLES]],
    ],
    ['dtmf', { event: 'dtmf', dtmf: { track: 'inbound_track', digit: '1' } }, [['dtmf', '1']]],
    ['mark', { event: 'mark', streamSid: 'MZ1', mark: { name: 'x' } }, [['mark', 'x', undefined]]],
    ['stop', { event: 'stop', stop: { accountSid: 'AC1', callSid: 'CA1' } }, [['stopped']]],
  ])('reads %s', (_event, message, calls) => {
    expect(server().read(message)).toEqual(calls);
  });

  test.each([
    ['an empty text', ''],
    ['broken JSON', '{'],
    ['an array', '[]'],
    ['null', 'null'],
    ['bytes', Uint8Array.of(1, 2)],
    ['an unknown event', { event: 'dance' }],
    ['media without a payload', { event: 'media' }],
    ['a payload that is not text', { event: 'media', media: { payload: 5 } }],
    ['an empty payload', { event: 'media', media: { payload: '' } }],
    ['the agent’s own track', { event: 'media', media: { track: 'outbound', payload: MU_LAW } }],
    ['a mark without a name', { event: 'mark', mark: { name: '' } }],
    ['a mark with a name of 257 characters', { event: 'mark', mark: { name: 'x'.repeat(257) } }],
    ['an unknown digit', { event: 'dtmf', dtmf: { digit: 'x' } }],
    ['65 digits', { event: 'dtmf', dtmf: { digits: '1'.repeat(65) } }],
  ])('counts %s as malformed', (_what, message) => {
    expect(server().read(message)).toEqual([['malformed']]);
  });

  test('fills a gap between timestamps with silence', () => {
    const payload = base64(...new Array<number>(160).fill(0xff));
    const media = (timestamp: number) => ({
      event: 'media',
      media: { timestamp: String(timestamp), payload },
    });
    // 60 ms are missing after the second frame; 1 ms and 10 s are no gaps.
    const calls = server().read(media(0), media(21), media(100), media(10_000)) as unknown[][];
    expect(calls.map((call) => call.length - 1)).toEqual([160, 160, 480, 160, 160]);
  });

  test('writes audio, marks and clears for its stream', () => {
    const { server: end, sent } = server();
    end.play(Int16Array.from(SAMPLES));
    end.mark('m');
    end.clear();
    expect(sent).toEqual([
      { event: 'media', streamSid: 'MZ1', media: { payload: MU_LAW } },
      { event: 'mark', streamSid: 'MZ1', mark: { name: 'm' } },
      { event: 'clear', streamSid: 'MZ1' },
    ]);
  });

  test('closes the connection to hang up and ignores other commands', () => {
    const { server: end, sent, closes } = server();
    end.command({ kind: 'transfer', to: '+1' });
    end.command({ kind: 'send_dtmf', digits: '1' });
    expect([sent, closes]).toEqual([[], []]);
    end.command({ kind: 'hangup' });
    expect([sent, closes]).toEqual([[], ['hangup']]);
  });
});

describe('Twilio client', () => {
  test('writes numbered messages, at 8 kHz whatever the call’s rate', () => {
    const { client, sent } = openClient(twilio, 16_000);
    expect(client.sampleRateHz).toBe(8000);
    client.audio(Int16Array.from(SAMPLES), 160);
    client.dtmf('5', 100);
    client.mark({ name: 'm', outcome: 'played', playedSamples: 1, receivedSamples: 2, bufferDelayMs: 3 });
    client.stop();
    expect(sent).toEqual([
      { event: 'connected', protocol: 'Call', version: '1.0.0' },
      {
        event: 'start',
        sequenceNumber: '1',
        streamSid: 'MZ1',
        start: {
          streamSid: 'MZ1',
          accountSid: 'callway',
          callSid: 'CA1',
          tracks: ['inbound'],
          customParameters: { name: 'Ada' },
          mediaFormat: MEDIA_FORMAT,
        },
      },
      {
        event: 'media',
        sequenceNumber: '2',
        streamSid: 'MZ1',
        media: { track: 'inbound', chunk: '1', timestamp: '20', payload: MU_LAW },
      },
      { event: 'dtmf', sequenceNumber: '3', streamSid: 'MZ1', dtmf: { track: 'inbound_track', digit: '5' } },
      { event: 'mark', sequenceNumber: '4', streamSid: 'MZ1', mark: { name: 'm' } },
      {
        event: 'stop',
        sequenceNumber: '5',
        streamSid: 'MZ1',
        stop: { accountSid: 'callway', callSid: 'CA1' },
      },
    ]);
  });

  test.each([
    ['media', { event: 'media', media: { payload: MU_LAW } }, ['audio', ...SAMPLES]],
    ['mark', { event: 'mark', mark: { name: 'm' } }, ['mark', 'm']],
    ['clear', { event: 'clear' }, ['clear']],
    ['dtmf', { event: 'dtmf', dtmf: { digits: '4#' } }, ['command', { kind: 'send_dtmf', digits: '4#' }]],
    ['hangup', { event: 'hangup' }, ['command', { kind: 'hangup' }]],
    ['transfer', { event: 'transfer', transfer: { to: '+1' } }, ['command', { kind: 'transfer', to: '+1' }]],
    ['bytes', Uint8Array.of(1, 2), ['malformed']],
    ['failover prompts', { event: 'standby', standby: { waiting: '', apology: '' } }, ['malformed']],
  ])('reads %s', (_event, message, call) => {
    expect(openClient(twilio, 8000).read(message)).toEqual([call]);
  });
});
