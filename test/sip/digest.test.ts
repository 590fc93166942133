import { expect, test } from 'vitest';
import { authorization, chooseChallenge } from '../../sip/digest.ts';

const MUFASA = { username: 'Mufasa', password: 'Circle of Life' };
const request = {
  method: 'GET',
  uri: '/dir/index.html',
  body: '',
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  nonceCount: 1,
};

/** The examples of RFC 7616 section 3.9.1. */
test.each([
  ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
])('The digest with %s equals the example of RFC 7616', (algorithm, response) => {
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

test('Without qop the digest is that of RFC 2069', () => {
  const challenge = chooseChallenge([
    'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"',
  ]);
  if (!challenge) throw new Error('the challenge was not read');
  const value = authorization(challenge, { ...MUFASA, password: 'CircleOfLife' }, request);
  // MD5(MD5("Mufasa:testrealm@host.com:CircleOfLife"):nonce:MD5("GET:/dir/index.html")), without qop, nc or cnonce.
  expect(value).toContain('response="1949323746fe6a43ef61f9606e7febea"');
  expect(value).not.toMatch(/qop|nc=|cnonce/);
});

test.each([
  [
    'the first one',
    ['Digest realm="a",nonce="1",algorithm=SHA-256', 'Digest realm="b",nonce="2"'],
    null,
    'a',
  ],
  [
    'the next one after an unknown algorithm',
    ['Digest realm="a",nonce="1",algorithm=AKAv1-MD5', 'Digest realm="b",nonce="2"'],
    null,
    'b',
  ],
  ['only the given realm', ['Digest realm="a",nonce="1", Digest realm="b",nonce="2"'], 'b', 'b'],
  ['an upper-case scheme', ['DIGEST realm="a", nonce="1"'], null, 'a'],
  ['one after another scheme', ['Bearer scope="x, y", Negotiate, Digest realm="a",nonce="1"'], null, 'a'],
  ['one before another scheme', ['Digest realm="a",nonce="1", Bearer scope="x"'], null, 'a'],
  [
    'a realm with a comma and a scheme',
    ['Digest realm="Carrier, Digest co",nonce="1"'],
    null,
    'Carrier, Digest co',
  ],
  [
    'a realm without quotes',
    ['Digest realm=My Carrier, nonce=1, algorithm="MD5", qop=auth,auth-int'],
    null,
    'My Carrier',
  ],
  ['the next field after a malformed one', ['Digest realm=<', 'Digest realm="a",nonce="1"'], null, 'a'],
  ['nothing of another realm', ['Digest realm="a",nonce="1"'], 'b', undefined],
  ['nothing from Basic', ['Basic realm="a"'], null, undefined],
  ['nothing without a nonce', ['Digest realm="a"'], null, undefined],
  ['nothing with only an unknown qop', ['Digest realm="a",nonce="1",qop="x"'], null, undefined],
])('chooseChallenge takes %s', (_what, headers, realm, expected) => {
  expect(chooseChallenge(headers, realm)?.realm).toBe(expected);
});
