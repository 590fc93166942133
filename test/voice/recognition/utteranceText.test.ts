import { expect, test } from 'vitest';
import type { RecognitionEvent } from '../../../src/models/ports/streamingSpeechToText.ts';
import { UtteranceText } from '../../../src/voice/recognition/utteranceText.ts';

type TextEvent = Parameters<UtteranceText['on']>[0];

const interim = (text: string): TextEvent => ({ type: 'interim', transcript: { text } });
const final = (text: string): TextEvent => ({ type: 'final', transcript: { text } });
const signal = (type: 'eager_end' | 'turn_resumed' | 'end_of_turn'): TextEvent => ({ type });

const heard = (events: readonly TextEvent[]): string => {
  const text = new UtteranceText();
  for (const event of events) text.on(event);
  return text.text;
};

test.each<[string, RecognitionEvent[], string]>([
  ['Interim transcripts replace each other', [interim('a'), interim('a table')], 'a table'],
  ['Finals without turn events follow each other', [final('A table.'), interim('for')], 'A table. for'],
  [
    'A final repeated at the end of its turn counts once',
    [final('A table.'), signal('eager_end'), final('A table.'), signal('end_of_turn')],
    'A table.',
  ],
  [
    'A resumed turn is told anew as a whole',
    [final('A table'), signal('eager_end'), signal('turn_resumed'), interim('A table for')],
    'A table for',
  ],
  [
    'Two turns of the recognizer are one utterance',
    [final('A table.'), signal('end_of_turn'), interim('For two')],
    'A table. For two',
  ],
])('%s', (_title, events, text) => expect(heard(events as TextEvent[])).toBe(text));

test.each([
  ['words', 'a table', 'a table for two', 'for two'],
  ['Chinese characters', '我想訂位', '我想訂位兩個人', '兩個人'],
  ['revised words', 'a cable', 'a table for two', 'for two'],
])('Words of an earlier utterance in the same turn are not told again: %s', (_title, taken, whole, rest) => {
  const text = new UtteranceText();
  text.on(interim(taken));
  text.take();
  expect(text.text).toBe('');
  text.on(interim(whole));
  expect(text.text).toBe(rest);
});

test('After the end of the turn, a closed utterance leaves nothing', () => {
  const text = new UtteranceText();
  text.on(final('Yes.'));
  text.on(signal('end_of_turn'));
  text.take();
  text.on(interim('Yes'));
  expect(text.text).toBe('Yes');
});

test.each<[string, TextEvent[], boolean, boolean]>([
  ['nothing', [], false, false],
  ['interim words', [interim('a')], false, true],
  ['final words', [final('a')], true, true],
  ['an eager end', [interim('a'), signal('eager_end')], true, true],
  ['a turn that is resumed', [interim('a'), signal('eager_end'), signal('turn_resumed')], false, true],
  ['a turn that has ended', [interim('a'), signal('end_of_turn')], true, false],
])('After %s the words are final: %#', (_what, events, isFinal, isTurnOpen) => {
  const text = new UtteranceText();
  for (const event of events) text.on(event);
  expect([text.isFinal, text.isTurnOpen]).toEqual([isFinal, isTurnOpen]);
});

test('The language is the one that was told last, until the utterance is closed', () => {
  const text = new UtteranceText();
  text.on({ type: 'interim', transcript: { text: 'Hola', language: 'es' } });
  text.on(interim('Hola a todos'));
  expect(text.transcript).toEqual({ text: 'Hola a todos', language: 'es' });
  text.take();
  expect(text.transcript).toEqual({ text: '', language: undefined });
});
