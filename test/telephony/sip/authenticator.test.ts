import { expect, test } from 'vitest';
import { createAuthenticator, type UsedNonces } from '../../../src/telephony/sip/authenticator.ts';
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

test.each([
  ['407', 'WWW-Authenticate', 'Authorization'],
  ['401', 'Proxy-Authenticate', 'Proxy-Authorization'],
])('A %s with %s is answered by %s', (status, name, answer) => {
  const authenticator = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  const response = responseOf(`SIP/2.0 ${status} x`, `${name}: Digest realm="r",nonce="n"`);
  expect(Object.keys(authenticator.answer(response, asked) ?? {})).toEqual([answer]);
});

test('Challenges of a server and of a proxy in one response are both answered', () => {
  const authenticator = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  const response = responseOf(
    'SIP/2.0 401 x',
    'WWW-Authenticate: Digest realm="r",nonce="n"',
    'Proxy-Authenticate: Digest realm="p",nonce="n"',
  );
  expect(Object.keys(authenticator.answer(response, asked) ?? {}).sort()).toEqual([
    'Authorization',
    'Proxy-Authorization',
  ]);
});

test('The nonce count rises when a later request gets the same nonce, and begins anew with another', () => {
  const nonces: UsedNonces = new Map();
  const counts = ['n', 'n', 'm'].map((nonce) => {
    const authenticator = createAuthenticator(
      { username: 'u', password: 'p', realm: null },
      () => 'c',
      nonces,
    );
    const response = responseOf(
      'SIP/2.0 401 x',
      `WWW-Authenticate: Digest realm="r",nonce="${nonce}",qop="auth"`,
    );
    return /nc=(\w+)/.exec(authenticator.answer(response, asked)?.Authorization ?? '')?.[1];
  });
  expect(counts).toEqual(['00000001', '00000002', '00000001']);
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
