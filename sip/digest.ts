import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { SipParseError } from './message/errors.ts';
import { parseAuth } from './message/fields/authorization.ts';

export type DigestAlgorithm = 'MD5' | 'SHA-256';

/** What a server needs to challenge and to judge; holds no state but the nonce counts seen. */
export interface DigestPolicy {
  readonly realm: string;
  /** Offered in this order. @see RFC 8760 section 2.3 */
  readonly algorithms: readonly DigestAlgorithm[];
  /** Signs nonces, so that any node of a fleet can judge them. */
  readonly nonceSecret: string;
  readonly nonceLifeMs: number;
}

export type DigestVerdict =
  | { readonly type: 'accepted'; readonly username: string }
  /** Right, but with a nonce that is too old or a count seen before: challenge again with `stale=true`. */
  | { readonly type: 'stale' }
  | { readonly type: 'refused'; readonly why: string };

/** The highest nonce count seen of each nonce; the caller forgets old nonces. */
export type NonceCounts = Map<string, number>;

const HASHES: Readonly<Record<DigestAlgorithm, string>> = { MD5: 'md5', 'SHA-256': 'sha256' };

/** The values of WWW-Authenticate (or Proxy-Authenticate) header fields, strongest algorithm first as configured. */
export function challenges(policy: DigestPolicy, nowMs: number, stale = false): string[] {
  const nonce = makeNonce(policy, nowMs);
  return policy.algorithms.map((algorithm) => {
    const staleness = stale ? ', stale=true' : '';
    return `Digest realm="${policy.realm}", nonce="${nonce}", algorithm=${algorithm}, qop="auth"${staleness}`;
  });
}

/**
 * Judges the value of an Authorization (or Proxy-Authorization) header.
 *
 * @param passwordOf - The user's password, `undefined` when there is no such user; both take the same time.
 * @see RFC 7616 section 3.4, RFC 8760
 */
export function judgeDigest(
  authorization: string,
  request: { method: string; uri: string },
  policy: DigestPolicy,
  context: { nowMs: number; counts: NonceCounts; passwordOf(username: string): string | undefined },
): DigestVerdict {
  const credentials = readCredentials(authorization);
  if (typeof credentials === 'string') return { type: 'refused', why: credentials };
  const { username, algorithm, nonce, count } = credentials;
  if (credentials.realm !== policy.realm) return { type: 'refused', why: 'the realm is another' };
  if (!policy.algorithms.includes(algorithm))
    return { type: 'refused', why: 'the algorithm was not offered' };
  if (credentials.uri !== request.uri) return { type: 'refused', why: 'the digest is for another URI' };
  const madeAtMs = nonceTime(policy, nonce);
  if (madeAtMs === undefined) return { type: 'stale' };
  const password = context.passwordOf(username);
  const expected = digestResponse(credentials, request.method, password ?? '');
  if (!sameText(expected, credentials.response) || password === undefined) {
    return { type: 'refused', why: 'the name or the password is wrong' };
  }
  const isOld = context.nowMs - madeAtMs > policy.nonceLifeMs;
  if (isOld || (count !== undefined && count <= (context.counts.get(nonce) ?? 0))) return { type: 'stale' };
  if (count !== undefined) context.counts.set(nonce, count);
  return { type: 'accepted', username };
}

export interface DigestCredentials {
  readonly username: string;
  readonly realm: string;
  readonly nonce: string;
  readonly uri: string;
  readonly response: string;
  readonly algorithm: DigestAlgorithm;
  readonly qop: string | undefined;
  readonly cnonce: string;
  /** As sent: eight hexadecimal digits. */
  readonly nc: string;
  readonly count: number | undefined;
}

/** What `response` must be. @see RFC 7616 section 3.4.1 */
export function digestResponse(
  credentials: Omit<DigestCredentials, 'response' | 'count'>,
  method: string,
  password: string,
): string {
  const hash = (text: string) => createHash(HASHES[credentials.algorithm]).update(text).digest('hex');
  const ha1 = hash(`${credentials.username}:${credentials.realm}:${password}`);
  const ha2 = hash(`${method}:${credentials.uri}`);
  const { nonce, nc, cnonce, qop } = credentials;
  return hash(qop === undefined ? `${ha1}:${nonce}:${ha2}` : `${ha1}:${nonce}:${nc}:${cnonce}:${qop}:${ha2}`);
}

/** @returns The credentials, or why they are none. */
function readCredentials(authorization: string): DigestCredentials | string {
  try {
    const { scheme, params } = parseAuth(authorization);
    if (scheme !== 'digest') return 'the scheme is not Digest';
    const need = (name: string): string => params.get(name) ?? missing(name);
    const qop = params.get('qop');
    if (qop !== undefined && qop !== 'auth') return 'only qop=auth is offered';
    const nc = qop === undefined ? '' : need('nc');
    if (qop !== undefined && !/^[0-9a-f]{8}$/i.test(nc)) return 'nc is malformed';
    const algorithm = (params.get('algorithm') ?? 'MD5').toUpperCase();
    if (algorithm !== 'MD5' && algorithm !== 'SHA-256') return 'the algorithm is unknown';
    return {
      username: need('username'),
      realm: need('realm'),
      nonce: need('nonce'),
      uri: need('uri'),
      response: need('response').toLowerCase(),
      algorithm,
      qop,
      cnonce: qop === undefined ? '' : need('cnonce'),
      nc,
      count: qop === undefined ? undefined : Number.parseInt(nc, 16),
    };
  } catch (error) {
    if (error instanceof SipParseError) return error.message;
    throw error;
  }
}

function missing(name: string): never {
  throw new SipParseError('header_value', `${name} is missing`);
}

/** Time and a signature of it: nothing to remember, nothing to forge. */
function makeNonce(policy: DigestPolicy, nowMs: number): string {
  const time = Math.floor(nowMs).toString(16);
  return `${time}.${sign(policy, time)}`;
}

function nonceTime(policy: DigestPolicy, nonce: string): number | undefined {
  const [time = '', signature = ''] = nonce.split('.');
  return sameText(sign(policy, time), signature) ? Number.parseInt(time, 16) : undefined;
}

function sign(policy: DigestPolicy, time: string): string {
  return createHmac('sha256', policy.nonceSecret)
    .update(`${policy.realm} ${time}`)
    .digest('hex')
    .slice(0, 32);
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
