import { expect, test } from 'vitest';
import { createAuthenticator } from '../../../src/telephony/sip/authenticator.ts';
import { responseOf } from '../../support/fakeControl.ts';

const asked = { method: 'INVITE', uri: 'sip:a@b', body: '' };
const challenge = (status: number, realm: string, extra = '') =>
  responseOf(
    `SIP/2.0 ${status} x`,
    `${status === 407 ? 'Proxy' : 'WWW'}-Authenticate: Digest realm="${realm}",nonce="n"${extra}`,
  );

test('Each realm is answered once, a stale nonce again, and earlier credentials are kept', () => {
  const authenticator = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  expect(Object.keys(authenticator.answer(challenge(407, 'proxy'), asked) ?? {})).toEqual([
    'Proxy-Authorization',
  ]);
  expect(Object.keys(authenticator.answer(challenge(401, 'home'), asked) ?? {})).toEqual([
    'Proxy-Authorization',
    'Authorization',
  ]);
  expect(authenticator.answer(challenge(401, 'home'), asked)).toBeUndefined();
  expect(authenticator.answer(challenge(401, 'home', ',stale=TRUE'), asked)).toBeDefined();
});

test('A different nonce of the same realm is answered once more', () => {
  const authenticator = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  const answers = ['1', '2', '3'].map((nonce) => {
    const response = responseOf('SIP/2.0 401 x', `WWW-Authenticate: Digest realm="r",nonce="${nonce}"`);
    return authenticator.answer(response, asked)?.Authorization;
  });
  expect(answers).toEqual([
    expect.stringContaining('nonce="1"'),
    expect.stringContaining('nonce="2"'),
    undefined,
  ]);
});

test('No more than four challenges are answered', () => {
  const authenticator = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  const answers = [1, 2, 3, 4, 5].map((index) => authenticator.answer(challenge(401, `r${index}`), asked));
  expect(answers.map((answer) => answer !== undefined)).toEqual([true, true, true, true, false]);
});

test('Without credentials no challenge is answered', () => {
  expect(createAuthenticator(undefined, () => 'c').answer(challenge(401, 'x'), asked)).toBeUndefined();
});

test('Quotes in the username are escaped', () => {
  const authenticator = createAuthenticator({ username: 'a"b\\', password: 'p', realm: null }, () => 'c');
  expect(authenticator.answer(challenge(401, 'x'), asked)?.Authorization).toContain('username="a\\"b\\\\"');
});
