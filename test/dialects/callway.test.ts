import { describe, expect, test } from 'vitest';
import { callway } from '../../src/dialects/callway.ts';
import type { SampleRateHz } from '../../src/media/resample/resampler.ts';
import { openClient, openServer } from './support/ends.ts';

const POSITION = { playedSamples: 10, receivedSamples: 20, bufferDelayMs: 30 };
const TRANSFER = { status: 'failed', to: 'sip:a@b', reason: 'busy' } as const;
const start = (sampleRate: number) => ({
  event: 'start',
  start: { streamSid: 'MZ1', mediaFormat: { encoding: 'audio/l16', sampleRate, channels: 1 } },
});
const server = () => openServer(callway, start(16_000));

describe('Callway server', () => {
  test.each([8000, 16_000, 24_000, 48_000])('takes a stream at %i Hz', (sampleRateHz) => {
    const message = JSON.stringify(start(sampleRateHz));
    expect(server().server.readStart(message)).toMatchObject({ streamId: 'MZ1', sampleRateHz });
  });

  test('refuses a stream at any other rate', () => {
    const reason = 'the sample rate must be one of 8000, 16000, 24000, 48000';
    expect(server().server.readStart(JSON.stringify(start(44_100)))).toBe(reason);
  });

  test.each([
    ['binary audio', Uint8Array.of(1, 0, 0xfe, 0xff), ['audio', 1, -2]],
    ['one digit', { event: 'dtmf', dtmf: { digit: '7' } }, ['dtmf', '7']],
    ['hold', { event: 'hold', hold: { isHeld: true } }, ['hold', true]],
    [
      'a mark with its outcome and position',
      { event: 'mark', mark: { name: 'm', outcome: 'cleared', position: POSITION } },
      ['mark', 'm', { outcome: 'cleared', position: POSITION }],
    ],
    [
      'a position without a delay',
      {
        event: 'mark',
        mark: { name: 'm', outcome: 'odd', position: { playedSamples: 5, receivedSamples: 6 } },
      },
      ['mark', 'm', { position: { playedSamples: 5, receivedSamples: 6, bufferDelayMs: 0 } }],
    ],
    ['cleared', { event: 'cleared', position: POSITION }, ['cleared', POSITION]],
    [
      'a transfer that has begun',
      { event: 'transfer_status', transfer: { status: 'begun', to: '+886223456789' } },
      ['transferStatus', { status: 'begun', to: '+886223456789' }],
    ],
    ['a failed transfer', { event: 'transfer_status', transfer: TRANSFER }, ['transferStatus', TRANSFER]],
    ['stop', { event: 'stop' }, ['stopped']],
  ])('reads %s', (_what, message, call) => {
    expect(server().read(message)).toEqual([call]);
  });

  test('reads every digit of a dtmf message, in upper case', () => {
    const calls = server().read({ event: 'dtmf', dtmf: { digits: '1*a' } });
    expect(calls).toEqual([
      ['dtmf', '1'],
      ['dtmf', '*'],
      ['dtmf', 'A'],
    ]);
  });

  test.each([
    ['text that is not JSON', 'nonsense'],
    ['audio as text', { event: 'media', media: { payload: '//8=' } }],
    ['a message of the agent', { event: 'clear' }],
    ['cleared without a position', { event: 'cleared' }],
    ['hold without a value', { event: 'hold' }],
    ['an unknown transfer status', { event: 'transfer_status', transfer: { to: 'x', status: 'lost' } }],
    [
      'a failed transfer without a reason',
      { event: 'transfer_status', transfer: { to: 'x', status: 'failed' } },
    ],
  ])('counts %s as malformed', (_what, message) => {
    expect(server().read(message)).toEqual([['malformed']]);
  });

  test('counts an odd byte as malformed and reads the audio before it', () => {
    expect(server().read(Uint8Array.of(1, 0, 9))).toEqual([['malformed'], ['audio', 1]]);
  });

  test('writes binary audio, and its messages for its stream', () => {
    const { server: end, sent } = server();
    end.play(Int16Array.of(1, -2));
    end.mark('m');
    end.clear();
    end.command({ kind: 'transfer', to: '+1' });
    end.command({ kind: 'send_dtmf', digits: '12' });
    end.command({ kind: 'hangup' });
    end.command({ kind: 'hangup', reason: 'error' });
    end.setFailoverPrompts?.({ waiting: Int16Array.of(1, -1), apology: new Int16Array(0) });
    expect(sent).toEqual([
      [1, 0, 0xfe, 0xff],
      { event: 'mark', streamSid: 'MZ1', mark: { name: 'm' } },
      { event: 'clear', streamSid: 'MZ1' },
      { event: 'transfer', streamSid: 'MZ1', transfer: { to: '+1' } },
      { event: 'dtmf', streamSid: 'MZ1', dtmf: { digits: '12' } },
      { event: 'hangup', streamSid: 'MZ1' },
      { event: 'hangup', streamSid: 'MZ1', hangup: { reason: 'error' } },
      { event: 'standby', streamSid: 'MZ1', standby: { waiting: 'AQD//w==', apology: '' } },
    ]);
  });
});

describe('Callway client', () => {
  test.each<SampleRateHz>([8000, 16_000])('takes the call’s rate of %i Hz', (sampleRateHz) => {
    const { client, sent } = openClient(callway, sampleRateHz);
    expect(client.sampleRateHz).toBe(sampleRateHz);
    expect(sent[1]).toMatchObject({
      event: 'start',
      start: {
        customParameters: { name: 'Ada' },
        mediaFormat: { encoding: 'audio/l16;endianness=little', sampleRate: sampleRateHz, channels: 1 },
      },
    });
  });

  test('writes positions, hold, the progress of transfers and controls', () => {
    const { client, sent } = openClient(callway, 8000);
    client.mark({ name: 'm', outcome: 'cleared', ...POSITION });
    client.cleared?.(POSITION);
    client.hold?.(true);
    client.tell?.({ kind: 'transfer', ...TRANSFER });
    client.tell?.({ kind: 'pause', isPaused: true });
    client.dtmf('5', 100);
    client.stop();
    expect(sent.slice(2)).toMatchObject([
      { event: 'mark', mark: { name: 'm', outcome: 'cleared', position: POSITION } },
      { event: 'cleared', position: POSITION },
      { event: 'hold', hold: { isHeld: true } },
      { event: 'transfer_status', transfer: TRANSFER },
      { event: 'control', control: { kind: 'pause', isPaused: true } },
      { event: 'dtmf', dtmf: { digit: '5' } },
      { event: 'stop' },
    ]);
  });

  test.each([{}, { isInternal: true } as const])(
    'sends each frame at once, and its own copy: %o',
    (target) => {
      const { client, sent } = openClient(callway, 8000, target);
      const samples = Int16Array.of(1, -2);
      client.audio(samples, 0);
      samples.fill(99);
      expect(sent.slice(2)).toEqual([[1, 0, 0xfe, 0xff]]);
    },
  );

  test.each([
    ['binary audio', Uint8Array.of(1, 0), ['audio', 1]],
    ['a mark', { event: 'mark', mark: { name: 'm' } }, ['mark', 'm']],
    ['a clear', { event: 'clear' }, ['clear']],
    [
      'a transfer',
      { event: 'transfer', transfer: { to: '+1' } },
      ['command', { kind: 'transfer', to: '+1' }],
    ],
    ['digits', { event: 'dtmf', dtmf: { digits: '12#' } }, ['command', { kind: 'send_dtmf', digits: '12#' }]],
    ['a hangup', { event: 'hangup' }, ['command', { kind: 'hangup' }]],
    [
      'a hangup after a failure',
      { event: 'hangup', hangup: { reason: 'error' } },
      ['command', { kind: 'hangup', reason: 'error' }],
    ],
    ['a transfer without a target', { event: 'transfer', transfer: {} }, ['malformed']],
    ['audio as text', { event: 'media', media: { payload: '//8=' } }, ['malformed']],
  ])('reads %s', (_what, message, call) => {
    expect(openClient(callway, 8000).read(message)).toEqual([call]);
  });

  test('reads failover prompts of our own agent only', () => {
    const message = { event: 'standby', standby: { waiting: 'AQD//w==', apology: '' } };
    const own = openClient(callway, 8000, { isInternal: true });
    expect(own.read(message)).toEqual([['failoverPrompts', [1, -1], []]]);
    expect(openClient(callway, 8000).read(message)).toEqual([['malformed']]);
  });
});
