import { expect, test } from 'vitest';
import { authorization, chooseChallenge, createAuthenticator } from '../../../src/telephony/sip/digest.ts';
import { readSipText } from '../../../src/telephony/sip/message.ts';

const MUFASA = { username: 'Mufasa', password: 'Circle of Life' };
const request = {
  method: 'GET',
  uri: '/dir/index.html',
  body: '',
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
};

/** The examples of RFC 7616 section 3.9.1. */
test.each([
  ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
])('the example of RFC 7616 for %s', (algorithm, response) => {
  const challenge = chooseChallenge([
    `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
  ]);
  expect(challenge).toBeDefined();
  if (!challenge) return;
  const value = authorization(challenge, MUFASA, request);
  expect(value).toContain(`response="${response}"`);
  expect(value).toContain('opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"');
  expect(value).toContain('qop=auth, nc=00000001');
});

test('without qop it is the digest of RFC 2069', () => {
  const challenge = chooseChallenge([
    'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"',
  ]);
  if (!challenge) throw new Error('it was not read');
  const value = authorization(challenge, { ...MUFASA, password: 'CircleOfLife' }, request);
  // MD5(MD5("Mufasa:testrealm@host.com:CircleOfLife"):nonce:MD5("GET:/dir/index.html")), without qop, nc or cnonce.
  expect(value).toContain('response="1949323746fe6a43ef61f9606e7febea"');
  expect(value).not.toMatch(/qop|nc=|cnonce/);
});

test.each([
  [
    'the first that is known',
    ['Digest realm="a",nonce="1",algorithm=SHA-256', 'Digest realm="b",nonce="2"'],
    null,
    'a',
  ],
  [
    'past an unknown algorithm',
    ['Digest realm="a",nonce="1",algorithm=AKAv1-MD5', 'Digest realm="b",nonce="2"'],
    null,
    'b',
  ],
  ['of our realm only', ['Digest realm="a",nonce="1", Digest realm="b",nonce="2"'], 'b', 'b'],
  ['an upper-case scheme', ['DIGEST realm="a", nonce="1"'], null, 'a'],
  ['none of another realm', ['Digest realm="a",nonce="1"'], 'b', undefined],
  ['none but Basic', ['Basic realm="a"'], null, undefined],
  ['none without a nonce', ['Digest realm="a"'], null, undefined],
  ['none with an unknown qop alone', ['Digest realm="a",nonce="1",qop="x"'], null, undefined],
])('chooses %s', (_what, headers, realm, expected) => {
  expect(chooseChallenge(headers, realm)?.realm).toBe(expected);
});

const asked = { method: 'INVITE', uri: 'sip:a@b', body: '' };
const challenge = (status: number, realm: string, extra = '') =>
  readSipText(
    `SIP/2.0 ${status} x\r\n${status === 407 ? 'Proxy' : 'WWW'}-Authenticate: Digest realm="${realm}",nonce="n"${extra}\r\n\r\n`,
  );

test('each realm is answered once, a stale nonce again, and earlier credentials are kept', () => {
  const one = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  expect(Object.keys(one.answer(challenge(407, 'proxy'), asked) ?? {})).toEqual(['Proxy-Authorization']);
  expect(Object.keys(one.answer(challenge(401, 'home'), asked) ?? {})).toEqual([
    'Proxy-Authorization',
    'Authorization',
  ]);
  expect(one.answer(challenge(401, 'home'), asked)).toBeUndefined();
  expect(one.answer(challenge(401, 'home', ',stale=TRUE'), asked)).toBeDefined();
});

test('another nonce of the same realm is answered once more', () => {
  const one = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  const answers = ['1', '2', '3'].map((nonce) => {
    const text = `SIP/2.0 401 x\r\nWWW-Authenticate: Digest realm="r",nonce="${nonce}"\r\n\r\n`;
    return one.answer(readSipText(text), asked)?.Authorization;
  });
  expect(answers).toEqual([
    expect.stringContaining('nonce="1"'),
    expect.stringContaining('nonce="2"'),
    undefined,
  ]);
});

test('a peer cannot keep us hashing', () => {
  const one = createAuthenticator({ username: 'u', password: 'p', realm: null }, () => 'c');
  const answers = [1, 2, 3, 4, 5].map((index) => one.answer(challenge(401, `r${index}`), asked));
  expect(answers.map((answer) => answer !== undefined)).toEqual([true, true, true, true, false]);
});

test('who has no password says nothing', () => {
  expect(createAuthenticator(undefined, () => 'c').answer(challenge(401, 'x'), asked)).toBeUndefined();
});

test('quotes in names are escaped', () => {
  const one = createAuthenticator({ username: 'a"b\\', password: 'p', realm: null }, () => 'c');
  expect(one.answer(challenge(401, 'x'), asked)?.Authorization).toContain('username="a\\"b\\\\"');
});
