import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readMessage } from '../../src/streams/messages.ts';

describe('readMessage', () => {
  test.each([
    // Twilio's own words, as its documentation has them.
    [{ event: 'connected', protocol: 'Call', version: '1.0.0' }, { event: 'connected' }],
    [
      { event: 'standby', standby: { waiting: 'AQA=', apology: '' } },
      { event: 'standby', waiting: 'AQA=', apology: '' },
    ],
    [
      {
        event: 'start',
        sequenceNumber: '1',
        start: {
          accountSid: 'AC1',
          streamSid: 'MZ1',
          callSid: 'CA1',
          tracks: ['inbound'],
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
          customParameters: { FirstName: 'Jane', Odd: 5 },
        },
        streamSid: 'MZ1',
      },
      {
        event: 'start',
        start: {
          streamId: 'MZ1',
          callId: 'CA1',
          encoding: 'audio/x-mulaw',
          sampleRateHz: 8000,
          customParameters: { FirstName: 'Jane' },
        },
      },
    ],
    [
      { event: 'media', media: { track: 'inbound', chunk: '1', timestamp: '20', payload: '//8=' } },
      { event: 'media', payload: '//8=', timestampMs: 20 },
    ],
    [
      { event: 'dtmf', dtmf: { track: 'inbound_track', digit: '1' } },
      { event: 'dtmf', digits: '1' },
    ],
    [
      { event: 'mark', streamSid: 'MZ1', mark: { name: 'x' } },
      { event: 'mark', name: 'x' },
    ],
    [{ event: 'clear', streamSid: 'MZ1' }, { event: 'clear' }],
    [{ event: 'stop', stop: { accountSid: 'AC1', callSid: 'CA1' } }, { event: 'stop' }],
    // Telnyx's and Exotel's spelling.
    [
      { event: 'start', stream_id: 'T1', start: { media_format: { encoding: 'PCMU', sample_rate: 8000 } } },
      {
        event: 'start',
        start: { streamId: 'T1', encoding: 'PCMU', sampleRateHz: 8000, customParameters: {} },
      },
    ],
    // Ours.
    [
      { event: 'hold', hold: { isHeld: true } },
      { event: 'hold', isHeld: true },
    ],
    [
      {
        event: 'mark',
        mark: { name: 'x', outcome: 'cleared', position: { playedSamples: 5, receivedSamples: 6 } },
      },
      {
        event: 'mark',
        name: 'x',
        outcome: 'cleared',
        position: { playedSamples: 5, receivedSamples: 6, bufferDelayMs: 0 },
      },
    ],
    [
      { event: 'cleared', position: { playedSamples: 1, receivedSamples: 2, bufferDelayMs: 40 } },
      { event: 'cleared', position: { playedSamples: 1, receivedSamples: 2, bufferDelayMs: 40 } },
    ],
    [
      { event: 'dtmf', dtmf: { digits: '12*#a' } },
      { event: 'dtmf', digits: '12*#A' },
    ],
    [
      { event: 'transfer', transfer: { to: '+886223456789' } },
      { event: 'transfer', to: '+886223456789' },
    ],
    [
      { event: 'transfer_status', transfer: { status: 'begun', to: '+886223456789' } },
      { event: 'transfer_status', progress: { status: 'begun', to: '+886223456789' } },
    ],
    [
      { event: 'transfer_status', transfer: { status: 'failed', to: 'sip:a@b', reason: 'busy' } },
      { event: 'transfer_status', progress: { status: 'failed', to: 'sip:a@b', reason: 'busy' } },
    ],
    [{ event: 'hangup' }, { event: 'hangup' }],
  ])('reads %j', (sent, read) => {
    expect(readMessage(JSON.stringify(sent))).toEqual(read);
  });

  test.each([
    ['', 'nothing'],
    ['{', 'broken JSON'],
    ['[]', 'an array'],
    ['null', 'null'],
    ['{"event":"dance"}', 'an unknown event'],
    ['{"event":"media"}', 'media without a payload'],
    ['{"event":"media","media":{"payload":5}}', 'a payload that is no text'],
    ['{"event":"media","media":{"track":"outbound","payload":"//8="}}', 'the engine’s own track'],
    ['{"event":"start","start":{}}', 'a start without a stream'],
    ['{"event":"mark","mark":{"name":""}}', 'a mark without a name'],
    [JSON.stringify({ event: 'mark', mark: { name: 'x'.repeat(257) } }), 'a mark with an endless name'],
    ['{"event":"dtmf","dtmf":{"digit":"x"}}', 'a key that no telephone has'],
    [JSON.stringify({ event: 'dtmf', dtmf: { digits: '1'.repeat(65) } }), 'too many digits'],
    ['{"event":"cleared"}', 'a clear without its position'],
    ['{"event":"transfer","transfer":{}}', 'a transfer to nowhere'],
    ['{"event":"transfer_status","transfer":{"to":"x","status":"lost"}}', 'an unknown status'],
    ['{"event":"transfer_status","transfer":{"to":"x","status":"failed"}}', 'a failure for no reason'],
  ])('refuses %j: %s', (text) => {
    expect(readMessage(text)).toBeUndefined();
  });

  test('reads or refuses whatever comes, and never throws', () => {
    const events = ['start', 'media', 'mark', 'dtmf', 'cleared', 'transfer', 'transfer_status', 'stop', 'x'];
    const hostile = fc.record({
      event: fc.constantFrom(...events),
      start: fc.anything(),
      media: fc.anything(),
      mark: fc.anything(),
      dtmf: fc.anything(),
      position: fc.anything(),
      transfer: fc.anything(),
    });
    fc.assert(
      fc.property(hostile, (message) => {
        readMessage(JSON.stringify(message, (_key, value) => (typeof value === 'bigint' ? 0 : value)));
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void readMessage(text)));
  });
});
