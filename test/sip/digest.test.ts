import { expect, test } from 'vitest';
import {
  challenges,
  type DigestPolicy,
  digestResponse,
  judgeDigest,
  type NonceCounts,
} from '../../sip/digest.ts';

// RFC 7616 section 3.9.1: the same exchange under both algorithms.
const RFC_EXAMPLE = {
  username: 'Mufasa',
  realm: 'http-auth@example.org',
  uri: '/dir/index.html',
  nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
  nc: '00000001',
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  qop: 'auth',
};

test.each([
  ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
] as const)('the example of RFC 7616 under %s', (algorithm, expected) => {
  expect(digestResponse({ ...RFC_EXAMPLE, algorithm }, 'GET', 'Circle of Life')).toBe(expected);
});

const policy: DigestPolicy = {
  realm: 'r',
  algorithms: ['SHA-256', 'MD5'],
  nonceSecret: 's',
  nonceLifeMs: 60_000,
};
const REQUEST = { method: 'INVITE', uri: 'sip:a@b' };

function authorize(changes: Partial<Record<string, string>> = {}, password = 'secret', atMs = 1000): string {
  const [challenge = ''] = challenges(policy, atMs);
  const nonce = /nonce="([^"]+)"/.exec(challenge)?.[1] ?? '';
  const fields = {
    username: 'u',
    realm: 'r',
    nonce,
    uri: REQUEST.uri,
    qop: 'auth',
    nc: '00000001',
    cnonce: 'c',
    ...changes,
  };
  const algorithm = 'SHA-256' as const;
  const response = digestResponse({ ...fields, algorithm }, 'INVITE', password);
  return `Digest ${Object.entries({ ...fields, response })
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}, algorithm=${algorithm}`;
}

function judge(authorization: string, nowMs = 2000, counts: NonceCounts = new Map()) {
  return judgeDigest(authorization, REQUEST, policy, {
    nowMs,
    counts,
    passwordOf: (username) => (username === 'u' ? 'secret' : undefined),
  });
}

test.each([
  ['the right answer', () => judge(authorize()), { type: 'accepted', username: 'u' }],
  [
    'a wrong password',
    () => judge(authorize({}, 'guess')),
    { type: 'refused', why: 'the name or the password is wrong' },
  ],
  [
    'a name unknown',
    () => judge(authorize({ username: 'x' })),
    { type: 'refused', why: 'the name or the password is wrong' },
  ],
  ['another realm', () => judge(authorize({ realm: 'q' })), { type: 'refused', why: 'the realm is another' }],
  [
    'another URI',
    () => judge(authorize({ uri: 'sip:z' })),
    { type: 'refused', why: 'the digest is for another URI' },
  ],
  ['a nonce that is too old', () => judge(authorize(), 62_000), { type: 'stale' }],
  ['a nonce that we never made', () => judge(authorize({ nonce: '3e8.forged' })), { type: 'stale' }],
  [
    'qop=auth-int',
    () => judge(authorize({ qop: 'auth-int' })),
    { type: 'refused', why: 'only qop=auth is offered' },
  ],
  ['another scheme', () => judge('Basic dTpw=x'), { type: 'refused', why: 'the scheme is not Digest' }],
  ['rubbish', () => judge('x'), { type: 'refused', why: 'credentials name no scheme' }],
])('%s', (_case, run, expected) => {
  expect(run()).toEqual(expected);
});

test('the same count twice is stale: somebody listens', () => {
  const counts: NonceCounts = new Map();
  const authorization = authorize();
  expect(judge(authorization, 2000, counts).type).toBe('accepted');
  expect(judge(authorization, 2000, counts).type).toBe('stale');
});

test('a challenge is offered for each algorithm, the first the strongest', () => {
  const [first, second] = challenges(policy, 0, true);
  expect(first).toMatch(/^Digest realm="r", nonce="[0-9a-f.]+", algorithm=SHA-256, qop="auth", stale=true$/);
  expect(second).toContain('algorithm=MD5');
});
