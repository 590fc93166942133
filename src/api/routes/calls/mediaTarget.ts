import { invalid } from '../../../base/errors.ts';
import { type CallMedia, type CallMediaInput, sealMedia } from '../../../calls/numbers/callMedia.ts';
import { findDialect } from '../../../dialects/index.ts';
import { checkSocketTarget, checkTcpTarget } from '../../../http/target.ts';
import type { HttpDeps } from '../../ports.ts';

/**
 * Checks the address of a caller's own bot: like a webhook, it must not reach internal hosts.
 *
 * @returns The target with its secrets sealed.
 * @throws {CallwayError} 400 `invalid_target`
 */
export function acceptMedia<Missing extends null | undefined>(
  { access: { sealer }, agents: { targetPolicy } }: HttpDeps,
  media: CallMediaInput | Missing,
): CallMedia | Missing {
  if (media === null || media === undefined) return media;
  const isTcp = findDialect(media.dialect).isTcp;
  const problem = isTcp
    ? checkTcpTarget(media.url, targetPolicy)
    : checkSocketTarget(media.url, targetPolicy);
  if (problem) {
    const details = [{ path: '/media/url', message: problem.message }];
    throw invalid('invalid_target', `media.url: ${problem.message}`, details);
  }
  return sealMedia(media, sealer.seal);
}
