import { expect, test } from 'vitest';
import { sentencesOf } from '../../../src/knowledge/chunking/sentences.ts';

test.each<[string, string, string[]]>([
  ['is one sentence', 'Parking is free behind the house.', []],
  [
    'has several sentences',
    'We are open from Monday to Friday. Parking is free behind the house.',
    ['We are open from Monday to Friday.', 'Parking is free behind the house.'],
  ],
  [
    'begins with a heading',
    'Clinic hours\n\nWe are open from Monday to Friday.\n\nParking is free behind the house.',
    ['Clinic hours\n\nWe are open from Monday to Friday.', 'Parking is free behind the house.'],
  ],
  [
    'ends with a short sentence',
    'We are open from Monday to Friday. Parking is free behind the house. Welcome!',
    ['We are open from Monday to Friday.', 'Parking is free behind the house. Welcome!'],
  ],
  ['is short sentences', 'No. Never. Stop.', []],
  ['is empty', '', []],
])('A chunk that %s', (_, content, sentences) => {
  expect(sentencesOf(content)).toEqual(sentences);
});

test('A long chunk has longer parts, not more', () => {
  const content = 'There is one more sentence here. '.repeat(240);
  const parts = sentencesOf(content);
  expect(parts.length).toBeGreaterThan(16);
  expect(parts.length).toBeLessThanOrEqual(32);
  expect(parts.join(' ')).toBe(content.trim());
});
