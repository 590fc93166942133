import { HttpClientError } from './errors.ts';
import { checkTarget, type TargetPolicy } from './target.ts';

const SOCKET_SCHEME = /^ws(s?):\/\//i;

/**
 * Judges the URL of a WebSocket as {@link checkTarget} judges one of HTTP: `wss` to public hosts, and plain `ws` to
 * loopback only where the policy allows it.
 *
 * @returns What is wrong with it; `undefined` when nothing is.
 */
export function checkSocketTarget(text: string, policy: TargetPolicy): HttpClientError | undefined {
  if (!SOCKET_SCHEME.test(text)) return notSecure(policy);
  const problem = checkTarget(text.replace(SOCKET_SCHEME, 'http$1://'), policy);
  return problem?.code === 'target_not_https' ? notSecure(policy) : problem;
}

function notSecure({ allowInsecureLoopback }: TargetPolicy): HttpClientError {
  return new HttpClientError(
    'target_not_https',
    `the URL must begin with wss://${allowInsecureLoopback ? '; plain ws may reach loopback only' : ''}`,
  );
}
