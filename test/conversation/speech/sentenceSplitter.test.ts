import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSentenceSplitter } from '../../../src/conversation/speech/sentenceSplitter.ts';

function split(text: string): string[] {
  const splitter = createSentenceSplitter();
  return [...splitter.push(text), ...splitter.flush()];
}

test.each([
  ['Hello. How are you?', ['Hello. ', 'How are you?']],
  [
    'One two three four, and then five six seven eight. Next.',
    ['One two three four, ', 'and then five six seven eight. ', 'Next.'],
  ],
  ['One two three four, five six seven eight.', ['One two three four, ', 'five six seven eight.']],
  ['One two three four, five six seven. Eight.', ['One two three four, five six seven. ', 'Eight.']],
  ['One two three, four five six seven eight.', ['One two three, four five six seven eight.']],
  ['請您稍等一下好嗎，馬上為您查詢看看。', ['請您稍等一下好嗎，', '馬上為您查詢看看。']],
  ['請您稍等一下喔，馬上為您查詢看看。', ['請您稍等一下喔，馬上為您查詢看看。']],
  ['Yes, of course I can.', ['Yes, of course I can.']],
  ['Well then now sure, ok. Next one.', ['Well then now sure, ok. ', 'Next one.']],
  [
    'Dr. Smith and Mr. Jones come at 5 p.m. on Monday. Fine?',
    ['Dr. Smith and Mr. Jones come at 5 p.m. on Monday. ', 'Fine?'],
  ],
  ['It costs 3.50 or $1,200.75 today. Ok.', ['It costs 3.50 or $1,200.75 today. ', 'Ok.']],
  ['E.g. this, i.e. that. J. R. Tolkien wrote it.', ['E.g. this, i.e. that. ', 'J. R. Tolkien wrote it.']],
  ['您好。請問需要什麼？謝謝！', ['您好。', '請問需要什麼？', '謝謝！']],
  ['請您稍等一下下好嗎，我馬上為您查詢看看。', ['請您稍等一下下好嗎，', '我馬上為您查詢看看。']],
  ['他說「好。」然後走了。', ['他說「好。」', '然後走了。']],
  ['She said "Stop!" Then she left.', ['She said "Stop!" ', 'Then she left.']],
  ['Wait... what? Really?!', ['Wait... what? ', 'Really?!']],
  ['First line\nsecond line', ['First line\n', 'second line']],
  ['नमस्ते। आप कैसे हैं?', ['नमस्ते। ', 'आप कैसे हैं?']],
  ['شکریہ۔ آپ کیسے ہیں؟ ٹھیک۔', ['شکریہ۔ ', 'آپ کیسے ہیں؟ ', 'ٹھیک۔']],
  ['متى تفتحون؟ نفتح في التاسعة.', ['متى تفتحون؟ ', 'نفتح في التاسعة.']],
  ['ครับ ยินดีต้อนรับสู่คลินิกของเรา วันนี้เปิดถึงห้าโมงเย็น', ['ครับ ยินดีต้อนรับสู่คลินิกของเรา ', 'วันนี้เปิดถึงห้าโมงเย็น']],
  ['はい。九時です｡ではまた！', ['はい。', '九時です｡', 'ではまた！']],
  ['', []],
  ['...', ['...']],
])('%j is split into %j', (text, pieces) => expect(split(text)).toEqual(pieces));

describe('Streamed text', () => {
  test('is split once the end of a sentence is certain', () => {
    const splitter = createSentenceSplitter();
    expect(splitter.push('It is 3')).toEqual([]);
    expect(splitter.push('.')).toEqual([]);
    expect(splitter.push('5 o')).toEqual([]);
    expect(splitter.push("'clock now. ")).toEqual(["It is 3.5 o'clock now. "]);
    expect(splitter.push('Good')).toEqual([]);
    expect(splitter.flush()).toEqual(['Good']);
  });

  test('is split at its first clause, and at sentences after it', () => {
    const splitter = createSentenceSplitter();
    expect(splitter.push('Let me see what I have, ')).toEqual(['Let me see what I have, ']);
    expect(splitter.push('we are open until six, seven or eight')).toEqual([]);
  });

  test.each([
    ['a sentence of 240 characters is not', `${'a'.repeat(239)}.`, [240]],
    ['a longer one is between words', `${'a'.repeat(230)} ${'b'.repeat(20)}.`, [231, 21]],
    ['one without spaces is at 240', `${'a'.repeat(300)}.`, [240, 61]],
    ['a character is whole', `${'a'.repeat(239)}😀${'a'.repeat(20)}.`, [241, 21]],
    [
      'one with clauses is after the last',
      `${'a'.repeat(100)}, ${'b'.repeat(50)}, ${'c '.repeat(60)}.`,
      [154, 121],
    ],
    ['one whose end follows is too', `${'a '.repeat(121)}bb. Next.`, [240, 6, 5]],
  ])('is split where it is too long: %s', (_, text, lengths) => {
    expect(split(text).map(({ length }) => length)).toEqual(lengths);
  });

  test('without sentences is split between words', () => {
    const pieces = split('word '.repeat(200));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(240);
    expect(pieces.every((piece) => piece.startsWith('word'))).toBe(true);
  });
});

test('The pieces of a text joined are the text, however it is streamed', () => {
  const alphabet = fc.constantFrom('a', 'B', ' ', '.', ',', '!', '\n', '。', '好', '，', '"', 'Mr', '3', '…');
  fc.assert(
    fc.property(fc.array(fc.array(alphabet, { maxLength: 30 }).map((parts) => parts.join(''))), (texts) => {
      const splitter = createSentenceSplitter();
      const pieces = [...texts.flatMap((text) => splitter.push(text)), ...splitter.flush()];
      expect(pieces.join('')).toBe(texts.join(''));
    }),
  );
});
