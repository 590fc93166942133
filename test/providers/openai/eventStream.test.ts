import { describe, expect, it } from 'vitest';
import { createEventStreamParser } from '../../../src/providers/openai/eventStream.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Everything that a stream's events hold, however its bytes are cut. */
function parse(pieces: readonly Uint8Array[]): string[] {
  const parser = createEventStreamParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

describe('the data of an event stream', () => {
  it.each<[string, string, string[]]>([
    ['two events', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['no blank after the colon', 'data:a\n\n', ['a']],
    ['lines that end with CR LF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['comments to keep the connection awake', ': ping\n\ndata: a\n\n: ping\n\n', ['a']],
    ['empty data', 'data:\n\ndata: \n\ndata: a\n\n', ['a']],
    ['other fields', 'event: message\nid: 7\nretry: 10\ndata: a\n\n', ['a']],
    ['several data lines', 'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']],
    ['a last event without its blank line', 'data: a\n\ndata: b', ['a', 'b']],
    ['nothing', '', []],
  ])('reads %s', (_, text, events) => {
    expect(parse([bytes(text)])).toEqual(events);
  });

  it('is the same wherever the network cuts it, also within a character', () => {
    const whole = bytes('data: 早安\r\n\r\n: ping\n\ndata: "é"\ndata: 🙂\n\n');
    for (let cut = 0; cut <= whole.length; cut++) {
      expect(parse([whole.subarray(0, cut), whole.subarray(cut)])).toEqual(['早安', '"é"\n🙂']);
    }
    expect(parse([...whole].map((byte) => Uint8Array.of(byte)))).toEqual(['早安', '"é"\n🙂']);
  });

  it('refuses an event without end', () => {
    const parser = createEventStreamParser();
    const piece = bytes('x'.repeat(1024 * 1024));
    const pushMany = () => {
      for (let count = 0; count < 5; count++) parser.push(piece);
    };
    expect(pushMany).toThrow(RangeError);
  });
});
