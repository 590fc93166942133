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
