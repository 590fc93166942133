import { invalid } from '../../../base/errors.ts';
import type { CallMedia } from '../../../calls/numbers/phoneNumber.ts';
import { checkSocketTarget } from '../../../infra/httpClient/socketTarget.ts';
import type { TargetPolicy } from '../../../infra/httpClient/target.ts';

/**
 * Checks the WebSocket address of a caller's own bot: like a webhook, it must not reach internal hosts.
 *
 * @throws {CallwayError} 400 `invalid_target`
 */
export function requireAllowedTarget(media: CallMedia | null | undefined, policy: TargetPolicy): void {
  const problem = media && checkSocketTarget(media.url, policy);
  if (!problem) return;
  const details = [{ path: '/media/url', message: problem.message }];
  throw invalid('invalid_target', `media.url: ${problem.message}`, details);
}
