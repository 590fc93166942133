import { expect, test } from 'vitest';
import { hasWords, withWordsOnly } from '../../../src/conversation/turns/recognizedWords.ts';

test.each([
  '',
  ' . ',
  '…',
  '...',
  '-',
  '?',
  '。',
  '、',
  '♪',
  '♪♪ ♫',
  '♪ la la la ♪',
  '🎵 Music',
  '👍',
  '[BLANK_AUDIO]',
  '[ Silence ]',
  '[_TT_150]',
  '(upbeat music)',
  '(upbeat music',
  '- (coughs) (laughs)',
  '[Music] [Applause].',
  '>> [MUSIC PLAYING]',
  '*coughs*',
  '**Music**',
  '_laughs_ ~music~ #noise#',
  '%HESITATION',
  '<noise>',
  '<unk> <unk>',
  '<|nospeech|>',
  '{breath}',
  '++NOISE++',
  '（拍手）',
  '【音楽】',
  '［笑い］',
])('%j has no words', (text) => {
  expect(hasWords(text)).toBe(false);
});

test.each([
  'Yes.',
  'a',
  '5',
  '٣',
  '*123#',
  '#5 #6',
  'user_name_one',
  '%HESITATION yes',
  '50 % of it',
  '*5*',
  '是',
  '好的。',
  'はい',
  'हाँ',
  'นะ',
  'نعم',
  '네',
  'I want the big one (the red one).',
  '(laughs) Yes, please.',
  '[BLANK_AUDIO] Keep it.',
  '«Oui»',
  '「はい」',
  'f***',
  'less < more',
])('%j has words', (text) => {
  expect(hasWords(text)).toBe(true);
});

test('Words that come late are judged when they come', async () => {
  const late = (words: string) => withWordsOnly({ text: '…', late: Promise.resolve(words) });
  expect(late('Yes.').text).toBe('…');
  expect(await late('Yes.').late).toBe('Yes.');
  expect(await late('[noise]').late).toBe('');
});
