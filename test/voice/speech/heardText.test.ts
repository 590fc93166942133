import { expect, test } from 'vitest';

import { createHeardText } from '../../../src/voice/speech/heardText.ts';

const speech = (ms: number) => new Int16Array(8 * ms).fill(5000);
const quiet = (ms: number) => new Int16Array(8 * ms);

test('Heard text is in whole words, by time and without the silence around them', () => {
  const heard = createHeardText(8000);
  heard.beginPiece('One two three four. ');
  for (const samples of [quiet(200), speech(1000), quiet(300)]) heard.append(samples);
  heard.completePiece();
  heard.beginPiece('Five six.');
  heard.append(speech(500));
  heard.completePiece();
  const heardAt = (ms: number) => heard.textAt(8 * ms);
  expect([0, 200, 400, 700, 1100, 1200, 1500, 1999, 2000].map(heardAt)).toEqual([
    '',
    '',
    'One',
    'One two',
    'One two three',
    'One two three four.',
    'One two three four.',
    'One two three four. Five',
    'One two three four. Five six.',
  ]);
});

test('Heard text is in characters for Chinese, and estimated by the usual pace during synthesis', () => {
  const heard = createHeardText(8000);
  heard.beginPiece('請問需要什麼服務');
  heard.append(speech(800));
  expect(heard.textAt(8 * 800)).toBe('請問需要');
  heard.completePiece();
  expect(heard.textAt(8 * 800)).toBe('請問需要什麼服務');
});

test('After a piece whose voice failed, only what it spoke counts as heard, then the next piece', () => {
  const heard = createHeardText(8000);
  heard.beginPiece('I wish you well. ');
  heard.append(speech(150));
  heard.beginPiece('Goodbye.');
  heard.append(speech(600));
  heard.completePiece();
  expect([150, 200, 750].map((ms) => heard.textAt(8 * ms))).toEqual(['I', 'I', 'I Goodbye.']);
});

test('Heard text leaves out a piece without speech', () => {
  const heard = createHeardText(8000);
  heard.beginPiece('Nobody said this. ');
  heard.beginPiece('But this.');
  heard.append(speech(500));
  heard.completePiece();
  expect(heard.textAt(4000)).toBe('But this.');
});

test('Word times of vendors that name signs, or none, are those of the same words', () => {
  const heard = createHeardText(8000);
  heard.beginPiece('- 你好。 Yes!');
  heard.addWords(
    ['你', '好', '。', 'Yes', '!'].map((word, at) => ({ word, startMs: at * 100, endMs: at * 100 + 100 })),
  );
  heard.append(speech(1000));
  expect(heard.textAt(8 * 250)).toBe('- 你好');
});

/** The words and when they end, 100 ms apart. */
const timed = (...words: string[]) =>
  words.map((word, at) => ({ word, startMs: at * 100, endMs: (at + 1) * 100 }));

test.each([
  ['One two three.', timed('one', 'two', 'three'), ['', 'One', 'One two', 'One two three.']],
  ['25 cats ran.', timed('twenty', 'five', 'cats', 'ran'), ['', '25', '25', '25 cats']],
])('Of %j what ended by the vendor’s times is heard, after what was said before', (text, words, expected) => {
  const heard = createHeardText(8000);
  heard.beginPiece('Yes! ');
  heard.append(speech(500));
  heard.completePiece();
  heard.beginPiece(text);
  heard.addWords(words);
  heard.append(speech(800));
  const texts = () => [99, 100, 200, 300].map((ms) => heard.textAt(8 * (500 + ms)).slice(5));
  heard.completePiece();
  expect(texts()).toEqual(expected);
  expect(heard.textAt(8 * 1300)).toBe(`Yes! ${text}`);
});

test.each([
  [timed('One', 'two'), 'One two'],
  [timed('o', 'n', 'e', 'two', 'three', 'four'), 'One'],
])('While a piece is still spoken, its words so far are heard: %j', (words, expected) => {
  const heard = createHeardText(8000);
  heard.beginPiece('One two three four.');
  heard.addWords(words);
  heard.append(speech(800));
  expect(heard.textAt(8 * 200)).toBe(expected);
});

test('Silence that is not played counts for the times of the words after it', () => {
  const heard = createHeardText(8000);
  heard.skip(8);
  heard.beginPiece('One two three.');
  heard.addWords(timed('One', 'two', 'three'));
  heard.skip(8 * 60);
  heard.skip(8 * 40);
  heard.append(speech(200));
  expect([99, 100].map((ms) => heard.textAt(8 * ms))).toEqual(['One', 'One two']);
});

test('A text with which another voice goes on is heard in both, once', () => {
  const heard = createHeardText(8000);
  heard.splitPiece(3);
  heard.beginPiece('One two three four.');
  heard.append(speech(600));
  heard.splitPiece(8);
  heard.append(speech(600));
  heard.completePiece();
  expect([0, 300, 600, 900, 1200].map((ms) => heard.textAt(8 * ms))).toEqual([
    '',
    'One',
    'One two',
    'One two three',
    'One two three four.',
  ]);
});

test('Softer samples than the words are the silence around them', () => {
  const heard = createHeardText(8000);
  heard.beginPiece('One two.');
  const level = (sample: number, ms: number) => new Int16Array(8 * ms).fill(sample);
  for (const samples of [level(399, 300), level(-400, 300), level(-399, 300)]) heard.append(samples);
  heard.completePiece();
  expect([300, 450, 600].map((ms) => heard.textAt(8 * ms))).toEqual(['', 'One', 'One two.']);
});
