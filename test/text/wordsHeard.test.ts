import { expect, test } from 'vitest';

import { shareOf, textUntil } from '../../src/text/wordsHeard.ts';

const WRITTEN = 'Life is a complex set of things, my friend. It **has** 3 parts: one, two.';

test.each([
  ['the beginning', 'Life is a complex set of', 'Life is a complex set of'],
  ['words in other signs and cases', 'life is, a complex', 'Life is a complex'],
  [
    'a part of a later sentence',
    'my friend It has',
    'Life is a complex set of things, my friend. It **has**',
  ],
  ['one word', 'Life', 'Life'],
  [
    'a word of a later sentence that was broken off',
    'my friend It ha',
    'Life is a complex set of things, my friend. It **has**',
  ],
  ['as many words where they differ', 'Life is a simple set', 'Life is a complex set'],
  ['all of it', 'parts one two', WRITTEN],
  ['more than was written', `${WRITTEN} And more.`, WRITTEN],
  ['nothing', '', ''],
  ['signs alone', '...', ''],
])('What was heard is found in what was written: %s', (_of, heard, expected) => {
  expect(textUntil(WRITTEN, heard)).toBe(expected);
});

test('What was heard is found where all its words are, not where it begins alike', () => {
  expect(textUntil('One two. One three. Four.', 'one three')).toBe('One two. One three.');
});

test('What was heard is found in a text without spaces', () => {
  expect(textUntil('您好，請問要訂幾位？', '您好請問')).toBe('您好，請問');
});

test.each([
  [0, ''],
  [0.5, 'One two'],
  [0.99, 'One two three'],
  [1, 'One two three four.'],
  [1.2, 'One two three four.'],
])('The share %d of a text is whole words', (share, expected) => {
  expect(shareOf('One two three four.', share)).toBe(expected);
});
