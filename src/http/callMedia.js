import { invalid } from '../base/errors.js';
import { checkSocketTarget } from '../egress/socketTarget.js';
/**
 * Judges where a call's audio is to go: a bot's address is as dangerous as a webhook's.
 *
 * @throws {CallwayError} 400 `invalid_target`
 */
export function requireReachable(media, policy) {
  const problem = media && checkSocketTarget(media.url, policy);
  if (!problem) return;
  const details = [{ path: '/media/url', message: problem.message }];
  throw invalid('invalid_target', `media.url: ${problem.message}`, details);
}
