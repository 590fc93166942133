import { invalid } from '../../../base/errors.ts';
import type { Sealer } from '../../../base/sealer.ts';
import { type CallMedia, type CallMediaInput, sealMedia } from '../../../calls/numbers/callMedia.ts';
import { findDialect } from '../../../dialects/index.ts';
import type { TargetPolicy } from '../../../http/target.ts';
import { checkSocketTarget, checkTcpTarget } from '../../../http/target.ts';

export interface MediaTargetDeps {
  readonly targetPolicy: TargetPolicy;
  readonly sealer: Pick<Sealer, 'seal'>;
}

/**
 * Checks the address of a caller's own bot: like a webhook, it must not reach internal hosts.
 *
 * @returns The target with its secrets sealed.
 * @throws {CallwayError} 400 `invalid_target`
 */
export function acceptMedia<Missing extends null | undefined>(
  { targetPolicy, sealer }: MediaTargetDeps,
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
