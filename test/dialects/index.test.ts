import { expect, test } from 'vitest';

import { chooseSubprotocol, dialectNames, findDialect } from '../../src/dialects/index.ts';

test.each(dialectNames)('Registry finds %s, and its description is for the API documentation', (name) => {
  expect(findDialect(name).description).not.toBe('');
});

test('Registry refuses an unknown dialect', () => {
  expect(() => findDialect('morse')).toThrow();
});

test.each([
  [['audio.callway.v1'], 'audio.callway.v1'],
  [['chat', 'audio.callway.v1'], 'audio.callway.v1'],
  [['chat'], false],
  [[], false],
])('Subprotocol of %j is %s', (offered, chosen) => {
  expect(chooseSubprotocol(new Set(offered))).toBe(chosen);
});
