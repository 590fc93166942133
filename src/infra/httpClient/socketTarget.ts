import { HttpClientError } from './errors.ts';
import { checkTarget, type TargetPolicy } from './target.ts';

const SOCKET_SCHEME = /^ws(s?):\/\//i;

/**
 * Checks the URL of a WebSocket as {@link checkTarget} checks an HTTP URL: `wss` to public hosts, and `ws` to
 * loopback when the policy allows it.
 *
 * @returns The problem, if any.
 */
export function checkSocketTarget(text: string, policy: TargetPolicy): HttpClientError | undefined {
  if (!SOCKET_SCHEME.test(text)) return notSecure(policy);
  const problem = checkTarget(text.replace(SOCKET_SCHEME, 'http$1://'), policy);
  return problem?.code === 'target_not_https' ? notSecure(policy) : problem;
}

function notSecure({ allowInsecureLoopback }: TargetPolicy): HttpClientError {
  return new HttpClientError(
    'target_not_https',
    `the URL must begin with wss://${allowInsecureLoopback ? '; plain ws is allowed for loopback only' : ''}`,
  );
}
