import { expect, test } from 'vitest';

import {
  apiKeyInput,
  DEFAULT_SCOPES,
  digestCredential,
  looksLikeApiKey,
  looksLikeWidgetToken,
  makeApiKey,
} from '../../../src/agents/accounts/apiKey.ts';
import { actorOf, operatorIn, requireOwnScopes } from '../../../src/agents/accounts/principal.ts';

test.each([
  ['secret', 'sk_', false],
  ['developer', 'dk_', false],
  ['widget', 'wt_', true],
] as const)(
  'A %s credential has its prefix and 43 digits, of which only the last four are kept',
  (kind, prefix, isWidget) => {
    const { key, digest, hint } = makeApiKey(kind);
    expect(key).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{43}$`));
    expect(hint).toBe(`${prefix}…${key.slice(-4)}`);
    expect(digest).toBe(digestCredential(key));
    expect([looksLikeApiKey(key), looksLikeWidgetToken(key)]).toEqual([true, isWidget]);
    expect(makeApiKey(kind).key).not.toBe(key);
  },
);

test('Random keys use all digits alike', () => {
  const digits = Array.from({ length: 200 }, () => makeApiKey('secret').key.slice(4)).join('');
  expect(new Set(digits).size).toBe(62);
});

test.each(['', 'sk_short', `sk_${'a'.repeat(44)}`, `xx_${'a'.repeat(43)}`, `sk_${'a'.repeat(42)}-`])(
  '“%s” is not looked up',
  (credential) => {
    expect(looksLikeApiKey(credential)).toBe(false);
  },
);

test.each([
  ['a developer key with scopes', { kind: 'developer', scopes: ['read'] }, true],
  ['a developer key without', { kind: 'developer' }, true],
  ['a secret key without', { kind: 'secret' }, true],
  ['a secret key with scopes', { kind: 'secret', scopes: ['read'] }, false],
  ['a developer key with no scope at all', { kind: 'developer', scopes: [] }, false],
  ['a key of another kind', { kind: 'widget' }, false],
])('Of new keys, %s is accepted: %j %s', (_what, fields, isAccepted) => {
  expect(apiKeyInput.safeParse({ name: 'CRM', ...fields }).success).toBe(isAccepted);
});

const developer = { ...operatorIn('p'), kind: 'developer', keyId: 'k', hint: 'dk_…abcd' } as const;

test('The author of a change is a key with its hint, or the operator', () => {
  expect(actorOf(developer)).toEqual({ kind: 'developer', keyId: 'k', hint: 'dk_…abcd' });
  expect(actorOf(operatorIn('p'))).toEqual({ kind: 'admin' });
  expect(actorOf({ kind: 'admin' })).toEqual({ kind: 'admin' });
});

test('A key gives only scopes that it has itself', () => {
  const creator = { ...developer, scopes: ['read', 'keys:write'] as const };
  requireOwnScopes(creator, ['read']);
  requireOwnScopes({ kind: 'admin' }, DEFAULT_SCOPES);
  requireOwnScopes(operatorIn('p'), ['supervise', 'keys:write']);
  expect(() => requireOwnScopes(creator, ['read', 'write', 'calls'])).toThrow(
    expect.objectContaining({
      category: 'forbidden',
      code: 'missing_scope',
      message: expect.stringMatching(/: write, calls$/),
    }),
  );
});
