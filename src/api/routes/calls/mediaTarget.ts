import { invalid } from '../../../base/errors.ts';
import type { CallMedia } from '../../../calls/numbers/phoneNumber.ts';
import { checkSocketTarget } from '../../../infra/httpClient/socketTarget.ts';
import type { TargetPolicy } from '../../../infra/httpClient/target.ts';

/**
 * Judges where a call's audio is to go: a bot's address is as dangerous as a webhook's.
 *
 * @throws {CallwayError} 400 `invalid_target`
 */
export function requireReachable(media: CallMedia | null | undefined, policy: TargetPolicy): void {
  const problem = media && checkSocketTarget(media.url, policy);
  if (!problem) return;
  const details = [{ path: '/media/url', message: problem.message }];
  throw invalid('invalid_target', `media.url: ${problem.message}`, details);
}
