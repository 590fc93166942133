import { expect, test } from 'vitest';
import { estimatedMs, speakableEnd, spokenForm } from '../../../src/voice/speech/spokenText.ts';

test.each([
  ['Dr. No', { 'Dr.': 'Doctor' }, 'Doctor No', [1, 1]],
  ['call NYC now', { NYC: 'New York City' }, 'call New York City now', [1, 0, 0, 1, 1]],
  ['new york is big', { 'New York': 'NYC' }, 'NYC is big', [2, 1, 1]],
  ['concat a cat', { cat: 'feline' }, 'concat a feline', [1, 1, 1]],
  ['cats and cat5', { cat: 'feline' }, 'cats and cat5', [1, 1, 1]],
  ['台積電很大', { 台積電: 'TSMC' }, 'TSMC很大', [3, 1, 1]],
  ['去NYC吧', { NYC: 'New York City' }, '去New York City吧', [1, 0, 0, 1, 1]],
  ['say [this](https://a.example) — **now**', {}, 'say this — now', [1, 1, 1]],
])('%j with %j is spoken as %j', (written, words, text, writtenWords) => {
  const pronunciations = Object.entries(words).map(([word, say]) => ({ word, say }));
  expect(spokenForm(written, pronunciations)).toEqual({ text, writtenWords });
});

test('The spaces around a part stay, and a dash begins a list at the start of a line alone', () => {
  expect(spokenForm('  - one\n').text).toBe(' one ');
  expect(spokenForm(' - one', [], false).text).toBe(' - one');
  expect(spokenForm('two', [], false).text).toBe('two');
});

test.each([
  ['A ta', 0, 'A '],
  ['A table ', 2, 'A table '],
  ['我要訂', 0, '我要訂'],
  ['See [our p', 0, 'See '],
  ['See us [our page](https://a.ex', 4, 'See us '],
  ['See [our page](https://a.example) ', 0, 'See [our page](https://a.example) '],
  ['I like New ', 0, 'I like '],
  ['I like New ', 2, 'I like '],
  ['I like New York ', 0, 'I like New York '],
  ['I renew ', 0, 'I renew '],
  ['Go New ', 7, 'Go New '],
])('Of %j, spoken up to %i so far, %j may be spoken where "New York" is replaced', (text, from, may) => {
  expect(text.slice(0, speakableEnd(text, from, [{ word: 'New York', say: 'NYC' }]))).toBe(may);
});

test.each([
  ['fifteen letters', 1, 1000],
  ['fifteen letters', 2, 500],
  ['一二三四五', 1, 1000],
  ['一二三四五fifteen letters', 1, 2000],
])('A voice takes about as long as usual: %j at speed %i is %i ms', (text, speed, ms) =>
  expect(estimatedMs(text, speed)).toBeCloseTo(ms),
);
