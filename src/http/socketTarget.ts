import { HttpClientError } from './errors.ts';
import { checkTarget, type TargetPolicy } from './target.ts';

const SOCKET_SCHEME = /^ws(s?):\/\//i;

/**
 * Checks the URL of a WebSocket as {@link checkTarget} checks an HTTP URL: `wss` to public hosts, and `ws` to
 * loopback when the policy allows it.
 *
 * @returns The problem; undefined when there is none.
 */
export function checkSocketTarget(text: string, policy: TargetPolicy): HttpClientError | undefined {
  if (!SOCKET_SCHEME.test(text)) return notSecure(policy);
  const problem = checkTarget(text.replace(SOCKET_SCHEME, 'http$1://'), policy);
  return problem?.code === 'target_not_https' ? notSecure(policy) : problem;
}

const TCP_URL = /^tcp:\/\/(\[[0-9a-f:.]+\]|[^/:?#@[\]]+):\d{1,5}$/i;

/**
 * Checks a URL `tcp://host:port`, by the same rules. There is no TLS: the host is public, or loopback where the policy
 * allows it.
 *
 * @returns The problem; undefined when there is none.
 */
export function checkTcpTarget(text: string, policy: TargetPolicy): HttpClientError | undefined {
  if (!TCP_URL.test(text) || !URL.canParse(text.replace(/^tcp:/i, 'https:')))
    return new HttpClientError('target_invalid_url', 'the URL must be tcp://host:port');
  return checkTarget(guardedTcpUrl(text, policy).href, policy);
}

/** The URL for the checks that are the same for all protocols. */
export function guardedTcpUrl(text: string, policy: TargetPolicy): URL {
  const plain = text.replace(/^tcp:/i, 'http:');
  return new URL(checkTarget(plain, policy) === undefined ? plain : text.replace(/^tcp:/i, 'https:'));
}

function notSecure({ allowInsecureLoopback }: TargetPolicy): HttpClientError {
  return new HttpClientError(
    'target_not_https',
    `the URL must begin with wss://${allowInsecureLoopback ? '; plain ws is allowed for loopback only' : ''}`,
  );
}
