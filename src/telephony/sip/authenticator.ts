import { authorization, chooseChallenge, type DigestChallenge } from '../../../sip/digest.ts';
import type { SipResponse } from '../../../sip/message/message.ts';

/** The account at a trunk. Never log it. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Challenges of other realms are not answered; null accepts any. */
  readonly realm: string | null;
}

/** The last nonce of each realm, and how often it was used: servers give the same nonce to several requests. */
export type UsedNonces = Map<string, { readonly nonce: string; readonly count: number }>;

/** Bounds the hashing that a peer can cause; one call does not pass more proxies than this. */
const MAX_ANSWERS = 4;
/** Whatever the status: some servers send the challenge of one with the other. */
const ANSWER_OF_CHALLENGE = [
  ['proxy-authenticate', 'Proxy-Authorization'],
  ['www-authenticate', 'Authorization'],
] as const;

/**
 * Answers the digest challenges of one request: each realm once, again when its nonce is stale, and once more for a
 * different nonce, as from servers that share the load but not their nonces.
 */
export interface Authenticator {
  /**
   * @param response - The 401 or 407.
   * @param request - The request with its Request-URI as sent on the wire.
   * @returns Headers for the next attempt, including those for earlier challenges; undefined when the challenge cannot
   *   be answered.
   */
  answer(
    response: SipResponse,
    request: { readonly method: string; readonly uri: string; readonly body: string },
  ): Record<string, string> | undefined;
}

/**
 * @param makeCnonce - Returns random text.
 * @param nonces - The nonces of the call or registration that the request belongs to. @see RFC 7616 section 3.4 (nc)
 */
export function createAuthenticator(
  credentials: Credentials | undefined,
  makeCnonce: () => string,
  nonces: UsedNonces = new Map(),
): Authenticator {
  const headers: Record<string, string> = {};
  const answered = new Map<string, { readonly nonce: string; readonly isRepeated: boolean }>();
  let count = 0;
  /** @param key - The realm's key. */
  const mayAnswer = ({ nonce, isStale }: DigestChallenge, key: string): boolean => {
    const before = answered.get(key);
    const isNewNonce = before !== undefined && !before.isRepeated && before.nonce !== nonce;
    if (count >= MAX_ANSWERS || (before && !isStale && !isNewNonce)) return false;
    answered.set(key, { nonce, isRepeated: before !== undefined && (before.isRepeated || !isStale) });
    count += 1;
    return true;
  };
  /** @returns The number of times that the nonce has been used, with this one. */
  const use = (nonce: string, key: string): number => {
    const last = nonces.get(key);
    const nonceCount = last?.nonce === nonce ? last.count + 1 : 1;
    nonces.set(key, { nonce, count: nonceCount });
    return nonceCount;
  };
  return {
    answer({ headers: received }, request) {
      if (!credentials) return undefined;
      let isAnswered = false;
      for (const [challengeName, answerName] of ANSWER_OF_CHALLENGE) {
        const challenge = chooseChallenge(received.all(challengeName), credentials.realm);
        const key = `${answerName} ${challenge?.realm}`;
        if (!challenge || !mayAnswer(challenge, key)) continue;
        const nonceCount = use(challenge.nonce, key);
        const digest = { ...request, cnonce: makeCnonce(), nonceCount };
        headers[answerName] = authorization(challenge, credentials, digest);
        isAnswered = true;
      }
      return isAnswered ? { ...headers } : undefined;
    },
  };
}
