import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader } from '../../../sip/control/protocol/framing.ts';
import { SipParseError } from '../../../sip/message/errors.ts';
import { type Framed, StreamFramer } from '../../../sip/message/framer.ts';
import { formatMessage } from '../../../sip/message/message.ts';
import { parseMessage } from '../../../sip/message/parse.ts';
import { tortureMessages } from './tortureMessages.ts';

const ONE = 'MESSAGE sip:a@b SIP/2.0\r\nCall-ID: 1\r\nl: 7\r\n\r\nh\xc3\xa9llo\n';
const TWO = 'SIP/2.0 200 OK\r\nCall-ID: 2\r\nContent-Length: 0\r\n\r\n';

function kinds(framed: readonly Framed[]): string[] {
  return framed.map((one) => (one.kind === 'message' ? `${one.message.kind} ${one.message.body}` : one.kind));
}

test('Messages are complete whatever the segments', () => {
  const bytes = Buffer.from(`${ONE}${TWO}${ONE}`, 'latin1');
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 20 }), (cuts) => {
      const framer = new StreamFramer();
      const framed: Framed[] = [];
      const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
      for (let index = 1; index < edges.length; index += 1) {
        framed.push(...framer.feed(bytes.subarray(edges[index - 1], edges[index])));
      }
      expect(kinds(framed)).toEqual(['request h\xc3\xa9llo\n', 'response ', 'request h\xc3\xa9llo\n']);
      expect(framer.isMidMessage).toBe(false);
    }),
  );
});

test('Pings and pongs between messages are recognized', () => {
  const framer = new StreamFramer();
  expect(kinds(framer.feed(Buffer.from(`\r\n\r\n${TWO}\r\n${TWO}`)))).toEqual([
    'ping',
    'response ',
    'pong',
    'response ',
  ]);
  expect(kinds(framer.feed(Buffer.from('\r\n')))).toEqual(['pong']);
});

test.each([
  ['no Content-Length', 'OPTIONS sip:a SIP/2.0\r\nCall-ID: 1\r\n\r\n', 'content_length'],
  ['a body beyond all limits', 'OPTIONS sip:a SIP/2.0\r\nContent-Length: 99999\r\n\r\n', 'too_large'],
  ['a head without end', `OPTIONS sip:a SIP/2.0\r\nX: ${'x'.repeat(70_000)}`, 'too_large'],
  ['too many headers', `OPTIONS sip:a SIP/2.0\r\n${'X: 1\r\n'.repeat(300)}\r\n`, 'too_many_headers'],
  ['another protocol', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'start_line'],
])('A stream with %s is malformed', (_case, text, code) => {
  let thrown: unknown;
  try {
    new StreamFramer().feed(Buffer.from(text));
  } catch (error) {
    thrown = error;
  }
  expect((thrown as SipParseError).code).toBe(code);
});

test('The parser throws only SipParseError', () => {
  const words = fc.constantFrom(
    'INVITE',
    ' ',
    'sip:',
    '\r\n',
    ':',
    ';',
    '"',
    '<',
    '>',
    ',',
    'Via',
    'SIP/2.0',
    '\x00',
    '\xff',
    'Content-Length: 3',
  );
  const texts = fc.oneof(
    fc.array(words, { maxLength: 60 }).map((parts) => Buffer.from(parts.join(''), 'latin1')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(texts, (bytes) => {
      for (const parse of [() => parseMessage(bytes), () => new StreamFramer().feed(bytes)]) {
        try {
          parse();
        } catch (error) {
          expect(error).toBeInstanceOf(SipParseError);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('A parsed and formatted message parses to the same', () => {
  for (const { text, parse } of tortureMessages.filter((one) => one.parse === 'ok')) {
    const first = parseMessage(Buffer.from(text, 'latin1'));
    const again = parseMessage(Buffer.from(formatMessage(first), 'latin1'));
    expect(
      [...again.headers].map(([, value, key]) => [key, value]),
      parse,
    ).toEqual([...first.headers].map(([, value, key]) => [key, value]));
    expect(again.body).toBe(first.body);
  }
});

test('Control frames are complete whatever the segments', () => {
  const bytes = Buffer.from('3#abc11#h\xc3\xa9llo wrld0#', 'latin1');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const reader = new FrameReader();
    const frames = [...reader.feed(bytes.subarray(0, cut)), ...reader.feed(bytes.subarray(cut))];
    expect(frames).toEqual(['abc', 'h\xc3\xa9llo wrld', '']);
  }
});
