import { createHash } from 'node:crypto';
import type { SipText } from './message.ts';
import { splitValues } from './message.ts';

/** Who we are at a trunk. Never log it. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Challenges of other realms are not answered; null takes any. */
  readonly realm: string | null;
}

/** One `WWW-Authenticate` or `Proxy-Authenticate` that we can answer. */
export interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: Algorithm;
  readonly qop: 'auth' | 'auth-int' | undefined;
  /** The nonce is too old, the password may be right. */
  readonly isStale: boolean;
}

const HASHES = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const;
type HashName = keyof typeof HASHES;
type Algorithm = HashName | `${HashName}-sess`;

/** More challenges than proxies that one call may pass, so that a peer cannot keep us hashing. */
const MAX_ANSWERS = 4;

/**
 * Answers the challenges of one call, registration or check, each realm once; again when its nonce is stale, and once more
 * when it is another one, as of servers that share their work and not their nonces.
 */
export interface Authenticator {
  /**
   * @param response - A 401 or 407.
   * @param uri - The Request-URI of the request that was challenged, as it was on the wire.
   * @returns Headers for the request's next attempt, with those of earlier challenges; undefined when nothing more can
   *   be said.
   */
  answer(
    response: SipText,
    request: { readonly method: string; readonly uri: string; readonly body: string },
  ): Record<string, string> | undefined;
}

/** @param makeNonce - Random text for `cnonce`. */
export function createAuthenticator(
  credentials: Credentials | undefined,
  makeNonce: () => string,
): Authenticator {
  const said: Record<string, string> = {};
  const answered = new Map<string, { readonly nonce: string; readonly isRepeated: boolean }>();
  let count = 0;
  return {
    answer(response, request) {
      if (!credentials || count >= MAX_ANSWERS) return undefined;
      const [asks, answers] = / 407 /.test(response.startLine)
        ? (['proxy-authenticate', 'Proxy-Authorization'] as const)
        : (['www-authenticate', 'Authorization'] as const);
      const challenge = chooseChallenge(response.headers(asks), credentials.realm);
      if (!challenge) return undefined;
      const key = `${answers} ${challenge.realm}`;
      const before = answered.get(key);
      const isOther = before !== undefined && !before.isRepeated && before.nonce !== challenge.nonce;
      if (before && !challenge.isStale && !isOther) return undefined;
      const isRepeated = before !== undefined && (before.isRepeated || !challenge.isStale);
      answered.set(key, { nonce: challenge.nonce, isRepeated });
      count += 1;
      said[answers] = authorization(challenge, credentials, { ...request, cnonce: makeNonce() });
      return { ...said };
    },
  };
}

/**
 * The first challenge that we can answer; servers name the one they like best first.
 *
 * @see RFC 8760 section 2.4
 */
export function chooseChallenge(
  headers: readonly string[],
  realm: string | null = null,
): Challenge | undefined {
  for (const header of headers.flatMap(splitChallenges)) {
    const challenge = readChallenge(header);
    if (challenge && (realm === null || challenge.realm === realm)) return challenge;
  }
  return undefined;
}

/** The value of an Authorization header. @see RFC 7616 section 3.4 */
export function authorization(
  challenge: Challenge,
  credentials: Pick<Credentials, 'username' | 'password'>,
  request: { readonly method: string; readonly uri: string; readonly body: string; readonly cnonce: string },
): string {
  const { realm, nonce, opaque, algorithm, qop } = challenge;
  const { method, uri, cnonce } = request;
  const name = algorithm.replace('-sess', '') as HashName;
  const hash = (text: string) => createHash(HASHES[name]).update(text).digest('hex');
  const secret = hash(`${credentials.username}:${realm}:${credentials.password}`);
  const ha1 = algorithm.endsWith('-sess') ? hash(`${secret}:${nonce}:${cnonce}`) : secret;
  const ha2 = hash(qop === 'auth-int' ? `${method}:${uri}:${hash(request.body)}` : `${method}:${uri}`);
  const response = hash(
    qop === undefined ? `${ha1}:${nonce}:${ha2}` : `${ha1}:${nonce}:${NONCE_COUNT}:${cnonce}:${qop}:${ha2}`,
  );
  const parts = [
    `username="${quoted(credentials.username)}"`,
    `realm="${quoted(realm)}"`,
    `nonce="${quoted(nonce)}"`,
    `uri="${uri}"`,
    `response="${response}"`,
    `algorithm=${algorithm}`,
    ...(qop === undefined ? [] : [`qop=${qop}`, `nc=${NONCE_COUNT}`]),
    ...(qop === undefined && !algorithm.endsWith('-sess') ? [] : [`cnonce="${cnonce}"`]),
    ...(opaque === undefined ? [] : [`opaque="${quoted(opaque)}"`]),
  ];
  return `Digest ${parts.join(', ')}`;
}

/** Each nonce is used once: a challenge that comes again is answered anew. */
const NONCE_COUNT = '00000001';

/** Some write several challenges into one line, which commas alone do not tell apart. */
function splitChallenges(header: string): string[] {
  return header.split(/,\s*(?=(?:digest|basic|aka\S*)\s)/i);
}

function readChallenge(header: string): Challenge | undefined {
  const digest = /^\s*digest\s+(.*)$/is.exec(header);
  if (!digest) return undefined;
  const values = new Map(
    splitValues(digest[1] ?? '').map((part) => {
      const [name = '', ...value] = part.split('=');
      return [name.trim().toLowerCase(), unquoted(value.join('=').trim())] as const;
    }),
  );
  const realm = values.get('realm');
  const nonce = values.get('nonce');
  const algorithm = readAlgorithm(values.get('algorithm') ?? 'MD5');
  const qops = values
    .get('qop')
    ?.toLowerCase()
    .split(/[\s,]+/);
  const qop = qops?.includes('auth') ? 'auth' : qops?.includes('auth-int') ? 'auth-int' : undefined;
  if (realm === undefined || nonce === undefined || algorithm === undefined) return undefined;
  if (qops !== undefined && qop === undefined) return undefined;
  const isStale = values.get('stale')?.toLowerCase() === 'true';
  return { realm, nonce, opaque: values.get('opaque'), algorithm, qop, isStale };
}

function readAlgorithm(text: string): Algorithm | undefined {
  const [, name = '', session = ''] = /^(.*?)(-sess)?$/i.exec(text) ?? [];
  const known = (Object.keys(HASHES) as HashName[]).find((hash) => hash === name.toUpperCase());
  if (known === undefined) return undefined;
  return session === '' ? known : `${known}-sess`;
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : value;
}

function quoted(value: string): string {
  return value.replace(/["\\]/g, '\\$&');
}
