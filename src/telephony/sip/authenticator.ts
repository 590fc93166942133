import { authorization, chooseChallenge } from '../../../sip/digest.ts';
import type { SipResponse } from '../../../sip/message/message.ts';

/** The account at a trunk. Never log it. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Challenges of other realms are not answered; null accepts any. */
  readonly realm: string | null;
}

/** Bounds the hashing that a peer can cause; one call does not pass more proxies than this. */
const MAX_ANSWERS = 4;

/**
 * Answers the digest challenges of one call, registration or health check: each realm once, again when its nonce is
 * stale, and once more for a different nonce, as from servers that share the load but not their nonces.
 */
export interface Authenticator {
  /**
   * @param response - A 401 or 407.
   * @param request - With the Request-URI as it was on the wire.
   * @returns Headers for the next attempt, including those for earlier challenges; undefined when the challenge cannot
   *   be answered.
   */
  answer(
    response: SipResponse,
    request: { readonly method: string; readonly uri: string; readonly body: string },
  ): Record<string, string> | undefined;
}

/** @param makeCnonce - Returns random text. */
export function createAuthenticator(
  credentials: Credentials | undefined,
  makeCnonce: () => string,
): Authenticator {
  const headers: Record<string, string> = {};
  const answered = new Map<string, { readonly nonce: string; readonly isRepeated: boolean }>();
  let count = 0;
  return {
    answer({ status, headers: received }, request) {
      if (!credentials || count >= MAX_ANSWERS) return undefined;
      const [challengeName, answerName] =
        status === 407
          ? (['proxy-authenticate', 'Proxy-Authorization'] as const)
          : (['www-authenticate', 'Authorization'] as const);
      const challenge = chooseChallenge(received.all(challengeName), credentials.realm);
      if (!challenge) return undefined;
      const key = `${answerName} ${challenge.realm}`;
      const before = answered.get(key);
      const isNewNonce = before !== undefined && !before.isRepeated && before.nonce !== challenge.nonce;
      if (before && !challenge.isStale && !isNewNonce) return undefined;
      const isRepeated = before !== undefined && (before.isRepeated || !challenge.isStale);
      answered.set(key, { nonce: challenge.nonce, isRepeated });
      count += 1;
      headers[answerName] = authorization(challenge, credentials, { ...request, cnonce: makeCnonce() });
      return { ...headers };
    },
  };
}
