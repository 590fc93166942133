import { createHash } from 'node:crypto';
import { SipParseError } from './message/errors.ts';
import { parseAuth } from './message/fields/authorization.ts';
import { quote, splitOutside } from './message/grammar.ts';

const HASHES = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const;

type HashName = keyof typeof HASHES;
type DigestAlgorithm = HashName | `${HashName}-sess`;

/** A `WWW-Authenticate` or `Proxy-Authenticate` value that a client can answer. */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  readonly qop: 'auth' | 'auth-int' | undefined;
  /** The nonce has expired; the password may be correct. */
  readonly isStale: boolean;
}

/** The parts of a request that a digest response is computed over. */
export interface DigestRequest {
  readonly method: string;
  /** The Request-URI as on the wire. */
  readonly uri: string;
  readonly body: string;
  readonly cnonce: string;
  /** The number of times that the nonce was used, including this request; from 1. */
  readonly nonceCount: number;
}

/**
 * The first challenge that a client can answer; servers list the preferred one first.
 *
 * @param values - Header field values; one value may hold several challenges.
 * @param realm - Challenges of other realms are skipped; `null` accepts any.
 * @see RFC 8760 section 2.4
 */
export function chooseChallenge(
  values: readonly string[],
  realm: string | null = null,
): DigestChallenge | undefined {
  const challenges = values.flatMap((value) => unlessMalformed(() => splitChallenges(value)) ?? []);
  for (const text of challenges) {
    const challenge = unlessMalformed(() => readChallenge(text));
    if (challenge && (realm === null || challenge.realm === realm)) return challenge;
  }
  return undefined;
}

/** The value of an Authorization or Proxy-Authorization header. @see RFC 7616 section 3.4 */
export function authorization(
  challenge: DigestChallenge,
  user: { readonly username: string; readonly password: string },
  request: DigestRequest,
): string {
  const { realm, nonce, opaque, algorithm, qop } = challenge;
  const { uri, cnonce } = request;
  const parts = [
    `username=${quote(user.username)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri="${uri}"`,
    `response="${digestResponse(challenge, user, request)}"`,
    `algorithm=${algorithm}`,
    ...(qop === undefined ? [] : [`qop=${qop}`, `nc=${formatCount(request.nonceCount)}`]),
    ...(qop === undefined && !algorithm.endsWith('-sess') ? [] : [`cnonce="${cnonce}"`]),
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
  ];
  return `Digest ${parts.join(', ')}`;
}

/** @see RFC 7616 section 3.4.1; without `qop` the digest of RFC 2069 */
function digestResponse(
  { realm, nonce, algorithm, qop }: DigestChallenge,
  { username, password }: { readonly username: string; readonly password: string },
  { method, uri, body, cnonce, nonceCount }: DigestRequest,
): string {
  const hashName = algorithm.replace('-sess', '') as HashName;
  const hash = (text: string) => createHash(HASHES[hashName]).update(text).digest('hex');
  const secret = hash(`${username}:${realm}:${password}`);
  const ha1 = algorithm.endsWith('-sess') ? hash(`${secret}:${nonce}:${cnonce}`) : secret;
  const ha2 = hash(qop === 'auth-int' ? `${method}:${uri}:${hash(body)}` : `${method}:${uri}`);
  if (qop === undefined) return hash(`${ha1}:${nonce}:${ha2}`);
  return hash(`${ha1}:${nonce}:${formatCount(nonceCount)}:${cnonce}:${qop}:${ha2}`);
}

/** @see RFC 7616 section 3.4 */
function formatCount(nonceCount: number): string {
  return nonceCount.toString(16).padStart(8, '0');
}

/** Some servers write several challenges into one field: each begins with its scheme, which no `=` follows. */
function splitChallenges(value: string): string[] {
  const challenges: string[] = [];
  for (const piece of splitOutside(value, ',')) {
    const last = challenges.pop();
    const isFirst = last === undefined || /^[^\s="]+(?:\s+[^\s=]|$)/.test(piece);
    if (isFirst && last !== undefined) challenges.push(last);
    challenges.push(isFirst ? piece : `${last}, ${piece}`);
  }
  return challenges;
}

function readChallenge(value: string): DigestChallenge | undefined {
  const { scheme, params } = parseAuth(value);
  const realm = params.get('realm');
  const nonce = params.get('nonce');
  const algorithm = readAlgorithm(params.get('algorithm') ?? 'MD5');
  const qops = params
    .get('qop')
    ?.toLowerCase()
    .split(/[\s,]+/);
  const qop = (['auth', 'auth-int'] as const).find((name) => qops?.includes(name));
  if (scheme !== 'digest' || realm === undefined || nonce === undefined || !algorithm) return undefined;
  if (qops !== undefined && qop === undefined) return undefined;
  const isStale = params.get('stale')?.toLowerCase() === 'true';
  return { realm, nonce, opaque: params.get('opaque'), algorithm, qop, isStale };
}

/** A malformed challenge cannot be answered; another one may be usable. */
function unlessMalformed<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}

function readAlgorithm(text: string): DigestAlgorithm | undefined {
  const [, name = '', session = ''] = /^(.*?)(-sess)?$/i.exec(text) ?? [];
  const known = (Object.keys(HASHES) as HashName[]).find((hash) => hash === name.toUpperCase());
  if (known === undefined) return undefined;
  return session === '' ? known : `${known}-sess`;
}
