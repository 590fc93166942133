import { expect, test, vi } from 'vitest';
import { startStopwatch } from '../../../src/base/async/stopwatch.ts';
import type { TrunkCodec } from '../../../src/telephony/sdp/formats.ts';
import { createHostResolver } from '../../../src/telephony/sdp/hosts.ts';
import type { Agreement } from '../../../src/telephony/sdp/negotiate.ts';
import { createSdpSession, type SdpSessionOptions } from '../../../src/telephony/sdp/session.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** Counting bytes 00 01 02 …, so that keys are known. */
const counting = (count: number) => Uint8Array.from({ length: count }, (_value, index) => index);
const KEY = 'AAECAwQFBgcICQoLDA0ODwABAgMEBQYHCAkKCwwN';

/** What the names of the tests resolve to. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'media.example': ['2001:db8::7', '198.51.100.9'],
  'six.example': ['2001:db8::7'],
  'zero.example': ['0.0.0.0'],
};

function session(changes: Partial<SdpSessionOptions> = {}) {
  return createSdpSession({
    address: '192.0.2.1',
    rtpPort: 30_000,
    codecs: ['PCMU', 'PCMA'],
    srtp: 'off',
    randomBytes: counting,
    resolveHost: async (host) => HOSTS[host] ?? [],
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

test('An answer is read', async () => {
  const ours = session({ srtp: 'optional' });
  ours.offer();
  const answer = description(
    'm=audio 4000 RTP/AVP 8 96 13',
    'a=rtpmap:96 telephone-event/8000',
    'a=rtcp:4007',
    `a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${KEY}|2^31`,
  );
  const { parameters, isHeld } = await ours.acceptAnswer(answer);
  expect(isHeld).toBe(false);
  expect(parameters).toMatchObject({
    remote: { address: '198.51.100.7', port: 4000, rtcpPort: 4007 },
    codec: { encodingName: 'PCMA', payloadType: 8 },
    dtmf: { encodingName: 'telephone-event', payloadType: 96 },
    direction: 'sendrecv',
    srtp: { local: { tag: 2, suite: 'AES_CM_128_HMAC_SHA1_32' }, remote: { tag: 2 } },
  });
});

test.each([
  ['rtcp-mux', ['a=rtcp-mux'], 4000],
  ['a=rtcp', ['a=rtcp:4100'], 4100],
  ['neither', [], 4001],
])('The RTCP port comes from %s', async (_what, lines, rtcpPort) => {
  const ours = session();
  ours.offer();
  const { parameters } = await ours.acceptAnswer(description('m=audio 4000 RTP/AVP 0', ...lines));
  expect(parameters.remote.rtcpPort).toBe(rtcpPort);
});

test('The address of the media level takes precedence over the session level', async () => {
  const ours = session({ address: '2001:db8::1' });
  ours.offer();
  const answer = description('m=audio 4000 RTP/AVP 0', 'c=IN IP6 2001:db8::7');
  expect((await ours.acceptAnswer(answer)).parameters.remote.address).toBe('2001:db8::7');
});

const CRYPTO = `a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`;

test.each([
  ['no v=', session(), 'hello', /does not begin/],
  ['no audio', session(), description('m=video 4000 RTP/AVP 96'), /refuses the audio/],
  ['port 0', session(), description('m=audio 0 RTP/AVP 0'), /refuses the audio/],
  ['no common codec', session(), description('m=audio 4000 RTP/AVP 18'), /none of our codecs/],
  ['an unknown host', session(), description('m=audio 4000 RTP/AVP 0', 'c=IN IP4 no.example'), /no\.example/],
  ['an IPv6 host', session(), description('m=audio 4000 RTP/AVP 0', 'c=IN IP4 six.example'), /IPv6 only/],
  ['no key', session({ srtp: 'required' }), description('m=audio 4000 RTP/SAVP 0'), /does not agree to SRTP/],
  ['a foreign tag', session({ srtp: 'required' }), description('m=audio 4000 RTP/SAVP 0', CRYPTO), /SRTP/],
])('An answer with %s is unusable', async (_what, ours, answer, message) => {
  ours.offer();
  await expect(ours.acceptAnswer(answer)).rejects.toThrow(message);
});

test.each([
  ['no audio', session(), description('m=video 4000 RTP/AVP 96'), /no audio over RTP/],
  ['DTLS', session(), description('m=audio 4000 UDP/TLS/RTP/SAVPF 0'), /profile UDP\/TLS\/RTP\/SAVPF/],
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
])('An offer with %s is rejected, and nothing changes', async (_what, ours, offer, message) => {
  await expect(ours.answer(offer)).rejects.toMatchObject({
    code: 'sdp_unusable',
    message: expect.stringMatching(message),
  });
  expect(ours.current).toBe('');
});

test('The trunk’s first common codec is chosen, with the payload types of the offer', async () => {
  const ours = session({ codecs: ['opus', 'PCMU'] });
  const offer = description(
    'm=audio 4000 RTP/AVP 0 96 97 98',
    'a=rtpmap:96 opus/48000/2',
    'a=rtpmap:97 telephone-event/8000',
    'a=rtpmap:98 telephone-event/48000',
  );
  const { body, parameters } = await ours.answer(offer);
  expect(parameters.codec).toMatchObject({ encodingName: 'opus', payloadType: 96, channels: 2 });
  expect(parameters.dtmf?.payloadType).toBe(98);
  expect(body).toContain('m=audio 30000 RTP/AVP 96 98\r\n');
  expect(body).toContain('a=rtcp:30001 IN IP4 192.0.2.1\r\n');
  expect(body).not.toContain('rtcp-mux');
});

test('An answer has all streams of the offer, the others with port 0', async () => {
  const offer = description(
    'm=video 4002 RTP/AVP 96',
    'm=audio 4000 RTP/AVP 0',
    'm=audio 4004 RTP/SAVP 0 8',
    CRYPTO,
  );
  const { body, parameters } = await session({ srtp: 'optional' }).answer(offer);
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
])('An offer that is %s is answered %s, which for us is %s', async (offered, answered, direction, held) => {
  const { body, parameters, isHeld } = await session().answer(
    description('m=audio 4000 RTP/AVP 0', `a=${offered}`),
  );
  expect(body).toContain(`a=${answered}\r\n`);
  expect(parameters.direction).toBe(direction);
  expect(isHeld).toBe(held);
});

test.each(['0.0.0.0', 'zero.example'])('The address %s means hold: nothing is sent', async (host) => {
  const offer = description('m=audio 4000 RTP/AVP 0', `c=IN IP4 ${host}`);
  const { parameters, isHeld } = await session().answer(offer);
  expect(isHeld).toBe(true);
  expect(parameters.direction).toBe('recvonly');
});

test('The version of the session description increases with each change only', async () => {
  const ours = session();
  const version = (body: string) => /^o=- \d+ (\d+) /m.exec(body)?.[1];
  expect(version((await ours.answer(PLAIN)).body)).toBe('1');
  expect(version((await ours.answer(PLAIN)).body)).toBe('1');
  expect(version((await ours.answer(`${PLAIN}a=sendonly\r\n`)).body)).toBe('2');
  expect(version((await ours.answer(PLAIN)).body)).toBe('3');
  expect(version(ours.offer())).toBe('4');
});

test('Our offer after a hold is sendrecv', async () => {
  const ours = session();
  await ours.answer(`${PLAIN}a=inactive\r\n`);
  expect(ours.offer()).toContain('a=sendrecv\r\n');
});

test.each([
  ['a host name', 'IN IP4 media.example', '198.51.100.9'],
  ['an address', 'IN IP4 198.51.100.8', '198.51.100.8'],
  ['an address with a lifetime', 'IN IP4 198.51.100.8/127', '198.51.100.8'],
])('Audio is sent to %s of an offer', async (_what, connection, address) => {
  const offer = description('m=audio 4000 RTP/AVP 0', `c=${connection}`);
  expect((await session().answer(offer)).parameters.remote.address).toBe(address);
});

test.each([
  ['a short form of an address', '127.1', 399],
  ['a name that is no host', 'a_b', 399],
  ['an IPv6 address', '2001:db8::7', 300],
])('%s is not resolved', async (_what, host, sipWarning) => {
  const resolveHost = vi.fn(async () => ['192.0.2.9']);
  const offer = description('m=audio 4000 RTP/AVP 0', `c=IN IP4 ${host}`);
  await expect(session({ resolveHost }).answer(offer)).rejects.toMatchObject({ extra: { sipWarning } });
  expect(resolveHost).not.toHaveBeenCalled();
});

test('Of two streams the one at our version of IP is taken', async () => {
  const offer = description(
    'a=group:ANAT 1 2',
    ...['m=audio 4000 RTP/AVP 0', 'c=IN IP6 2001:db8::7', 'a=mid:1'],
    ...['m=audio 4002 RTP/AVP 0', 'c=IN IP4 198.51.100.7', 'a=mid:2'],
  );
  const { body, parameters } = await session().answer(offer);
  expect(parameters.remote).toMatchObject({ address: '198.51.100.7', port: 4002 });
  expect(body.match(/^m=.*$/gm)).toEqual(['m=audio 0 RTP/AVP 0', 'm=audio 30000 RTP/AVP 0']);
});

/** Payload types that the peer may send, by `name/clock`. */
const numbersOf = ({ parameters }: Agreement) =>
  parameters.received.map((one) => `${one.payloadType} ${one.encodingName}/${one.rtpClockRateHz}`);

test('Numbers of our offer stay valid where the answer has others, which are sent', async () => {
  const ours = session({ codecs: ['opus', 'G722', 'PCMU'] });
  ours.offer();
  const answer = await ours.acceptAnswer(
    description(
      'm=audio 4000 RTP/AVP 96 97 98 0',
      ...['a=rtpmap:96 opus/48000/2', 'a=rtpmap:97 telephone-event/48000', 'a=rtpmap:98 G722/8000'],
    ),
  );
  expect(answer.parameters).toMatchObject({ codec: { payloadType: 96 }, dtmf: { payloadType: 97 } });
  expect(numbersOf(answer)).toEqual([
    ...[
      '111 opus/48000',
      '9 G722/8000',
      '0 PCMU/8000',
      '101 telephone-event/8000',
      '110 telephone-event/48000',
    ],
    ...['96 opus/48000', '97 telephone-event/48000', '98 G722/8000'],
  ]);
  // The peer's next offer has its own numbers; ours after it keeps all.
  await ours.answer(description('m=audio 4000 RTP/AVP 0 111', 'a=rtpmap:111 telephone-event/8000'));
  expect(ours.offer()).toContain('m=audio 30000 RTP/AVP 96 9 0 111 110\r\n');
});

test('Events are sent by the clock that an answer gives our number', async () => {
  const ours = session({ codecs: ['opus'] });
  ours.offer();
  const lines = [
    'm=audio 4000 RTP/AVP 111 110',
    'a=rtpmap:111 opus/48000/2',
    'a=rtpmap:110 telephone-event/8000',
  ];
  const { parameters } = await ours.acceptAnswer(description(...lines));
  expect(parameters.dtmf).toMatchObject({ payloadType: 110, rtpClockRateHz: 8000 });
});

test('All codecs of an offer that the trunk has may be sent, though the answer names one', async () => {
  const answer = await session().answer(description('m=audio 4000 RTP/AVP 18 0 8 13'));
  expect(answer.body).toContain('m=audio 30000 RTP/AVP 0 13\r\n');
  expect(numbersOf(answer)).toEqual(['0 PCMU/8000', '8 PCMA/8000', '13 CN/8000']);
});

test.each<[what: string, codecs: TrunkCodec[], lines: string[], answered: string]>([
  [
    'opus with events at 8000',
    ['opus'],
    ['107 101', '107 opus/48000/2', '101 telephone-event/8000'],
    '107 101',
  ],
  ['opus without channels', ['opus'], ['107', '107 opus/48000'], '107'],
  ['G722 at its sample rate', ['G722'], ['105', '105 G722/16000'], '105'],
  ['a blank before the number', ['PCMU'], ['0', ' 0 PCMU/8000'], '0'],
  ['blanks between all', ['PCMU'], [' 96  101 ', '96   pcmu/8000 ', '101  Telephone-Event/8000'], '96 101'],
  ['a mapping without a clock', ['PCMA'], ['8', '8 PCMA'], '8'],
  ['one without a value', ['PCMA'], ['8 101', '101'], '8'],
])('An offer with %s is answered', async (_what, codecs, [payloads = '', ...maps], answered) => {
  const offer = description(`m=audio 4000 RTP/AVP ${payloads}`, ...maps.map((map) => `a=rtpmap:${map}`));
  expect((await session({ codecs }).answer(offer)).body).toContain(`m=audio 30000 RTP/AVP ${answered}\r\n`);
});

test.each([
  ['line feeds alone', PLAIN.replaceAll('\r\n', '\n')],
  ['carriage returns alone', PLAIN.replaceAll('\r\n', '\r')],
  ['blanks at the ends of lines', PLAIN.replaceAll('\r\n', ' \t\r\n')],
  ['empty lines', PLAIN.replaceAll('\r\n', '\r\n\r\n')],
  [
    'capitals',
    PLAIN.replace('m=audio', 'm=AUDIO').replace('a=rtpmap', 'a=RTPMAP').replace('c=IN IP4', 'c=in ip4'),
  ],
  ['a number of ports', PLAIN.replace('4000 ', '4000/2 ')],
  ['bandwidths and odd packet times', `${PLAIN}b=TIAS:64000\r\na=ptime:0\r\na=maxptime:abc\r\na=ptime\r\n`],
  ['a feedback profile', PLAIN.replace('RTP/AVP', 'RTP/AVPF')],
])('An offer with %s is read', async (_what, offer) => {
  const { parameters } = await session().answer(offer);
  expect(parameters).toMatchObject({
    remote: { address: '198.51.100.7', port: 4000 },
    codec: { encodingName: 'PCMU' },
    dtmf: { payloadType: 101 },
  });
});

test('The direction of the session level counts, in any case', async () => {
  const offer = PLAIN.replace('t=0 0', 't=0 0\r\na=SendOnly ');
  expect((await session().answer(offer)).parameters.direction).toBe('recvonly');
});

test('A host name that is not resolved in time has no address', async () => {
  const clock = createSimulatedClock();
  const resolveHost = createHostResolver(clock, () => new Promise(() => {}));
  const found = resolveHost('slow.example');
  clock.advance(3000);
  expect(await found).toEqual([]);
});

test('A description of any length takes no long time, and resolves few names', async () => {
  const resolveHost = vi.fn(async () => []);
  const streams = Array.from(
    { length: 500 },
    (_, index) => `m=audio 4000 RTP/AVP 0\r\nc=IN IP4 h${index}.example`,
  );
  const work = startStopwatch();
  const offer = description(' '.repeat(200_000), `a=rtpmap:${' '.repeat(200_000)}0 PCMU/8000`, ...streams);
  await expect(session({ resolveHost }).answer(offer)).rejects.toThrow('has no address');
  expect(resolveHost).toHaveBeenCalledTimes(4);
  expect(work.elapsedMs()).toBeLessThan(2000);
  const long = description('m=audio 4000 RTP/AVP 0', `c=IN IP4 ${'x'.repeat(60_000)}`);
  await expect(session().answer(long)).rejects.toThrow(/^.{1,210}$/);
});
