import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { createLanguageModels } from '../../../offline/recognition/languageModel.ts';
import { tempDir } from '../../support/tempDir.ts';

const DICTIONARY = [
  'a AH',
  'a(2) EY',
  'menu M EH N Y UW',
  'read R EH D',
  'read(2) R IY D',
  'reader R IY D ER',
];

function languageModels() {
  const folder = tempDir();
  const dictionary = join(folder, 'words.dict');
  writeFileSync(dictionary, DICTIONARY.join('\n'));
  const installation = { dictionary, languageModel: 'general.lm' };
  return { dictionary, models: createLanguageModels(installation, async () => folder) };
}

test('The dictionary of a grammar has each pronunciation of its words, and no other word', async () => {
  const { models } = languageModels();
  const [, dictionary = '', , grammar = ''] = await models.argumentsFor([
    'Read a menu',
    'Read a novel',
    'Reader',
  ]);
  const words = readFileSync(dictionary, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('sound_'));
  expect(words).toEqual([
    'read R EH D',
    'read(2) R IY D',
    'a AH',
    'a(2) EY',
    'menu M EH N Y UW',
    'reader R IY D ER',
  ]);
  expect(readFileSync(grammar, 'utf8')).toContain('<phrase> = read a menu | reader;');
});

test.each([
  ['without expected answers', []],
  ['where the dictionary lacks a word of each answer', ['a novel', 'novel reader']],
])('The general model is used %s', async (_, expectedAnswers) => {
  const { dictionary, models } = languageModels();
  expect(await models.argumentsFor(expectedAnswers)).toEqual(['-dict', dictionary, '-lm', 'general.lm']);
});
