import { expect, test } from 'vitest';
import { createSdpSession, type SdpSessionOptions } from '../../../src/telephony/sdp/session.ts';

/** Counting bytes 00 01 02 …, so that keys are known. */
const counting = (count: number) => Uint8Array.from({ length: count }, (_value, index) => index);
const KEY = 'AAECAwQFBgcICQoLDA0ODwABAgMEBQYHCAkKCwwN';

function session(changes: Partial<SdpSessionOptions> = {}) {
  return createSdpSession({
    address: '192.0.2.1',
    rtpPort: 30_000,
    codecs: ['PCMU', 'PCMA'],
    srtp: 'off',
    randomBytes: counting,
    ...changes,
  });
}

function description(...lines: string[]): string {
  return `${['v=0', 'o=- 1 1 IN IP4 198.51.100.7', 's=-', 'c=IN IP4 198.51.100.7', 't=0 0', ...lines].join('\r\n')}\r\n`;
}

const PLAIN = description('m=audio 4000 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/8000');

test('The offer, line by line', () => {
  expect(
    session({ codecs: ['opus', 'G722', 'PCMA'] })
      .offer()
      .split('\r\n'),
  ).toEqual([
    'v=0',
    'o=- 66051 1 IN IP4 192.0.2.1',
    's=-',
    'c=IN IP4 192.0.2.1',
    't=0 0',
    'm=audio 30000 RTP/AVP 111 9 8 101 110',
    'a=rtpmap:111 opus/48000/2',
    'a=rtpmap:9 G722/8000',
    'a=rtpmap:8 PCMA/8000',
    'a=rtpmap:101 telephone-event/8000',
    'a=rtpmap:110 telephone-event/48000',
    'a=fmtp:111 useinbandfec=1',
    'a=fmtp:101 0-15',
    'a=fmtp:110 0-15',
    'a=rtcp:30000 IN IP4 192.0.2.1',
    'a=ptime:20',
    'a=sendrecv',
    'a=rtcp-mux',
    '',
  ]);
});

test('The offer over IPv6', () => {
  const offer = session({ address: '2001:db8::1' }).offer();
  expect(offer).toContain('o=- 66051 1 IN IP6 2001:db8::1\r\n');
  expect(offer).toContain('c=IN IP6 2001:db8::1\r\n');
});

test.each([
  ['required', 'RTP/SAVP'],
  ['optional', 'RTP/AVP'],
] as const)('With SRTP %s the offer is %s with a key for each suite', (srtp, protocol) => {
  const offer = session({ srtp }).offer();
  expect(offer).toContain(`m=audio 30000 ${protocol} 0 8 101\r\n`);
  expect(offer).toContain(`a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}\r\n`);
  expect(offer).toContain(`a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${KEY}\r\n`);
});

test('An answer is read', () => {
  const ours = session({ srtp: 'optional' });
  ours.offer();
  const answer = description(
    'm=audio 4000 RTP/AVP 8 96 13',
    'a=rtpmap:96 telephone-event/8000',
    'a=rtcp:4007',
    `a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${KEY}|2^31`,
  );
  const { parameters, isHeld } = ours.acceptAnswer(answer);
  expect(isHeld).toBe(false);
  expect(parameters).toMatchObject({
    remote: { address: '198.51.100.7', port: 4000, rtcpPort: 4007 },
    codec: { encodingName: 'PCMA', payloadType: 8 },
    dtmfPayloadType: 96,
    comfortNoisePayloadType: 13,
    direction: 'sendrecv',
    srtp: { local: { tag: 2, suite: 'AES_CM_128_HMAC_SHA1_32' }, remote: { tag: 2 } },
  });
});

test.each([
  ['rtcp-mux', ['a=rtcp-mux'], 4000],
  ['a=rtcp', ['a=rtcp:4100'], 4100],
  ['neither', [], 4001],
])('The RTCP port comes from %s', (_what, lines, rtcpPort) => {
  const ours = session();
  ours.offer();
  const { remote } = ours.acceptAnswer(description('m=audio 4000 RTP/AVP 0', ...lines)).parameters;
  expect(remote.rtcpPort).toBe(rtcpPort);
});

test('The address of the media level takes precedence over the session level', () => {
  const ours = session();
  ours.offer();
  const answer = description('m=audio 4000 RTP/AVP 0', 'c=IN IP6 2001:db8::7');
  expect(ours.acceptAnswer(answer).parameters.remote.address).toBe('2001:db8::7');
});

const CRYPTO = `a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`;

test.each([
  ['no v=', session(), 'hello', /does not begin/],
  ['no audio', session(), description('m=video 4000 RTP/AVP 96'), /refuses the audio/],
  ['port 0', session(), description('m=audio 0 RTP/AVP 0'), /refuses the audio/],
  ['no common codec', session(), description('m=audio 4000 RTP/AVP 18'), /none of our codecs/],
  [
    'a host name',
    session(),
    description('m=audio 4000 RTP/AVP 0', 'c=IN IP4 host.example'),
    /refuses the audio/,
  ],
  ['no key', session({ srtp: 'required' }), description('m=audio 4000 RTP/SAVP 0'), /does not agree to SRTP/],
  ['a foreign tag', session({ srtp: 'required' }), description('m=audio 4000 RTP/SAVP 0', CRYPTO), /SRTP/],
])('An answer with %s is unusable', (_what, ours, answer, message) => {
  ours.offer();
  expect(() => ours.acceptAnswer(answer)).toThrow(message);
});

test.each([
  ['no audio', session(), description('m=video 4000 RTP/AVP 96'), /no audio over RTP/],
  ['DTLS', session(), description('m=audio 4000 UDP/TLS/RTP/SAVPF 0'), /no audio over RTP/],
  ['no common codec', session({ codecs: ['opus'] }), PLAIN, /none of the trunk’s codecs/],
  [
    'SRTP where it is off',
    session(),
    description('m=audio 4000 RTP/SAVP 0', CRYPTO),
    /which the trunk has off/,
  ],
  ['no SRTP where it must be', session({ srtp: 'required' }), PLAIN, /no SRTP/],
  [
    'a malformed key',
    session({ srtp: 'optional' }),
    description('m=audio 4000 RTP/SAVP 0', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:short'),
    /no SRTP/,
  ],
])('An offer with %s is rejected, and nothing changes', (_what, ours, offer, message) => {
  expect(() => ours.answer(offer)).toThrow(expect.objectContaining({ code: 'sdp_unusable' }));
  expect(() => ours.answer(offer)).toThrow(message);
  expect(ours.current).toBe('');
});

test('The trunk’s first common codec is chosen, with the payload types of the offer', () => {
  const ours = session({ codecs: ['opus', 'PCMU'] });
  const offer = description(
    'm=audio 4000 RTP/AVP 0 96 97 98',
    'a=rtpmap:96 opus/48000/2',
    'a=rtpmap:97 telephone-event/8000',
    'a=rtpmap:98 telephone-event/48000',
  );
  const { body, parameters } = ours.answer(offer);
  expect(parameters.codec).toMatchObject({ encodingName: 'opus', payloadType: 96, channels: 2 });
  expect(parameters.dtmfPayloadType).toBe(98);
  expect(body).toContain('m=audio 30000 RTP/AVP 96 98\r\n');
  expect(body).toContain('a=rtcp:30001 IN IP4 192.0.2.1\r\n');
  expect(body).not.toContain('rtcp-mux');
});

test('An answer has all streams of the offer, the others with port 0', () => {
  const offer = description(
    'm=video 4002 RTP/AVP 96',
    'm=audio 4000 RTP/AVP 0',
    'm=audio 4004 RTP/SAVP 0 8',
    CRYPTO,
  );
  const { body, parameters } = session({ srtp: 'optional' }).answer(offer);
  expect(body.match(/^m=.*$/gm)).toEqual([
    'm=video 0 RTP/AVP 96',
    'm=audio 0 RTP/AVP 0',
    'm=audio 30000 RTP/SAVP 0',
  ]);
  expect(parameters.remote.port).toBe(4004);
  expect(body).toContain(`a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:${KEY}\r\n`);
  expect(parameters.srtp).toMatchObject({ local: { tag: 7 }, remote: { tag: 7 } });
});

test.each([
  ['sendrecv', 'sendrecv', 'sendrecv', false],
  ['sendonly', 'recvonly', 'recvonly', true],
  ['recvonly', 'sendonly', 'sendonly', false],
  ['inactive', 'inactive', 'inactive', true],
])('An offer that is %s is answered %s, which for us is %s', (offered, answered, direction, held) => {
  const { body, parameters, isHeld } = session().answer(
    description('m=audio 4000 RTP/AVP 0', `a=${offered}`),
  );
  expect(body).toContain(`a=${answered}\r\n`);
  expect(parameters.direction).toBe(direction);
  expect(isHeld).toBe(held);
});

test('The address 0.0.0.0 means hold: nothing is sent', () => {
  const { parameters, isHeld } = session().answer(description('m=audio 4000 RTP/AVP 0', 'c=IN IP4 0.0.0.0'));
  expect(isHeld).toBe(true);
  expect(parameters.direction).toBe('recvonly');
});

test('The version of the session description increases with each change only', () => {
  const ours = session();
  const version = (body: string) => /^o=- \d+ (\d+) /m.exec(body)?.[1];
  expect(version(ours.answer(PLAIN).body)).toBe('1');
  expect(version(ours.answer(PLAIN).body)).toBe('1');
  expect(version(ours.answer(`${PLAIN}a=sendonly\r\n`).body)).toBe('2');
  expect(version(ours.answer(PLAIN).body)).toBe('3');
  expect(version(ours.offer())).toBe('4');
});

test('Our offer after a hold is sendrecv', () => {
  const ours = session();
  ours.answer(`${PLAIN}a=inactive\r\n`);
  expect(ours.offer()).toContain('a=sendrecv\r\n');
});
